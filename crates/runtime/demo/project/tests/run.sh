# Runs every test and says which ones do not hold.
cd "$(dirname "$0")/.." || exit 2
count=0
failed=0

# same NAME WANTED SEEN
same() {
    count=$((count + 1))
    if [ "$2" = "$3" ]; then
        echo "ok $count - $1"
    else
        failed=$((failed + 1))
        echo "not ok $count - $1: wanted '$2', saw '$3'"
    fi
}

same "below 100.00 nothing is off" 9999 "$(sh src/discount.sh 9999)"
same "at 100.00 a tenth is off" 9000 "$(sh src/discount.sh 10000)"
same "above 100.00 a tenth is off" 18000 "$(sh src/discount.sh 20000)"
same "the receipt of a large order names the discount" "discount: 2000" "$(sh src/receipt.sh 20000 | grep discount)"

echo "1..$count"
[ "$failed" -eq 0 ]
