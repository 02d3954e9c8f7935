# What a customer pays for an order, in cents. From 100.00 on, a tenth is off.
amount=$1
if [ "$amount" -gt 10000 ]; then
    echo $((amount - amount / 10))
else
    echo "$amount"
fi
