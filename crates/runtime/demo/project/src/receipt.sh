# The receipt for an order: what it costs, what is off, what is to pay.
amount=$1
paid=$(sh "$(dirname "$0")/discount.sh" "$amount")
echo "order: $amount"
if [ "$amount" -gt 10000 ]; then
    echo "discount: $((amount - paid))"
fi
echo "to pay: $paid"
