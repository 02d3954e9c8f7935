//! What was used, and what is only held for it.

use longhaul_events::{Account, AgentAct, CallOrder, Content, Held, ModelUsage, TokenCount};
use serde_json::json;

use super::Spent;

fn held() -> Held {
    Held { tokens: TokenCount { input: 100, output: 50 }, cost_micros: 9 }
}

fn spent(acts: &[AgentAct]) -> Spent {
    let mut spent = Spent::default();
    acts.iter().for_each(|act| spent.add(act));
    spent
}

fn answered(account: Account) -> AgentAct {
    AgentAct::Answered {
        turn: 1,
        said: Content::Inline(json!("so")),
        calls: Vec::new(),
        order: CallOrder::OneByOne,
        usage: TokenCount { input: 30, output: 4 },
        ms: 1,
        cost_micros: 2,
        account,
        echo: None,
    }
}

#[test]
fn what_is_held_counts_until_the_bill_takes_its_place() {
    let requested = AgentAct::Requested { request: 1, held: held(), bytes: 0 };
    let open = spent(std::slice::from_ref(&requested));
    assert_eq!((open.tokens, open.money_micros), (held().tokens, 9));
    let usage = ModelUsage { input: 30, cache_read: 20, cache_write: 0, output: 4 };
    let (provider, model) = ("anthropic".to_owned(), "m".to_owned());
    let billed = AgentAct::Billed { request: 1, provider, model, usage, cost_micros: 2, held: held() };
    let paid = spent(&[requested, billed]);
    assert_eq!((paid.tokens, paid.money_micros), (TokenCount { input: 30, output: 4 }, 2));
}

#[test]
fn a_turn_that_has_bills_is_not_counted_twice() {
    let alone = spent(&[answered(Account::Turn)]);
    assert_eq!((alone.turns, alone.tokens, alone.money_micros), (1, TokenCount { input: 30, output: 4 }, 2));
    let billed = spent(&[answered(Account::Bills)]);
    assert_eq!((billed.turns, billed.tokens, billed.money_micros), (1, TokenCount::default(), 0));
}
