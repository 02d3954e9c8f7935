//! Filters of system calls as programs for the kernel. Pure: rules in, instructions out.
//!
//! A filter judges by number and by numbers among the arguments; it cannot look behind a pointer.

/// One instruction of classic BPF.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Instruction {
    pub(super) code: u16,
    pub(super) if_true: u8,
    pub(super) if_false: u8,
    pub(super) operand: u32,
}

/// A system call that is refused.
#[derive(Debug, Clone)]
pub(super) struct Rule {
    pub(super) call: u32,
    /// All must hold; none means always.
    pub(super) when: Vec<Condition>,
    pub(super) errno: i32,
}

/// A condition on the low half of one argument. All that we look at are `int`s and flags below bit 32, and of
/// those the kernel looks at no more itself.
#[derive(Debug, Clone, Copy)]
pub(super) struct Condition {
    pub(super) argument: u8,
    pub(super) mask: u32,
    pub(super) test: Test,
}

#[derive(Debug, Clone, Copy)]
pub(super) enum Test {
    Is(u32),
    IsNot(u32),
}

const LOAD: u16 = 0x20;
const AND: u16 = 0x54;
const JUMP_EQUAL: u16 = 0x15;
const JUMP_AT_LEAST: u16 = 0x35;
const RETURN: u16 = 0x06;

const ALLOW: u32 = 0x7fff_0000;
const ERRNO: u32 = 0x0005_0000;

const CALL_OFFSET: u32 = 0;
const ARCHITECTURE_OFFSET: u32 = 4;
const ARGUMENTS_OFFSET: u32 = 16;

/// Calls through another door of the same kernel: 32-bit ones, and on x86-64 those of x32. Their numbers mean
/// something else, so none is let in.
const NO_SUCH_CALL: u32 = ERRNO + libc::ENOSYS.cast_unsigned();
const FIRST_X32: u32 = 0x4000_0000;

/// The architecture of this build, as the kernel names it; `None` where no filter is known.
pub(super) const ARCHITECTURE: Option<u32> = if cfg!(target_arch = "x86_64") {
    Some(0xc000_003e)
} else if cfg!(target_arch = "aarch64") {
    Some(0xc000_00b7)
} else {
    None
};

/// The program that refuses what the rules name and lets all else through.
///
/// It is short for calls that no rule names: the kernel tries every call on it when it is installed.
pub(super) fn program(architecture: u32, rules: &[Rule]) -> Vec<Instruction> {
    let mut program = vec![
        load(ARCHITECTURE_OFFSET),
        jump(JUMP_EQUAL, architecture, 1, 0),
        give(NO_SUCH_CALL),
        load(CALL_OFFSET),
        jump(JUMP_AT_LEAST, FIRST_X32, 0, 1),
        give(NO_SUCH_CALL),
    ];
    for rule in rules {
        program.extend(block(rule));
    }
    program.push(give(ALLOW));
    program
}

/// One rule. It begins and ends with the number of the call loaded; a condition that does not hold jumps to where
/// that is loaded again.
fn block(rule: &Rule) -> Vec<Instruction> {
    let conditions = 3 * rule.when.len();
    let reload = usize::from(!rule.when.is_empty());
    let length = 1 + conditions + 1 + reload;
    let over = |at: usize, to: usize| u8::try_from(to - at - 1).expect("a rule has few conditions");
    let mut block = vec![jump(JUMP_EQUAL, rule.call, 0, over(0, length))];
    for condition in &rule.when {
        block.push(load(ARGUMENTS_OFFSET + 8 * u32::from(condition.argument)));
        block.push(Instruction { code: AND, if_true: 0, if_false: 0, operand: condition.mask });
        let out = over(block.len(), length - 1);
        block.push(match condition.test {
            Test::Is(value) => jump(JUMP_EQUAL, value, 0, out),
            Test::IsNot(value) => jump(JUMP_EQUAL, value, out, 0),
        });
    }
    block.push(give(ERRNO + rule.errno.cast_unsigned()));
    if reload == 1 {
        block.push(load(CALL_OFFSET));
    }
    block
}

const fn load(offset: u32) -> Instruction {
    Instruction { code: LOAD, if_true: 0, if_false: 0, operand: offset }
}

const fn jump(code: u16, operand: u32, if_true: u8, if_false: u8) -> Instruction {
    Instruction { code, if_true, if_false, operand }
}

const fn give(operand: u32) -> Instruction {
    Instruction { code: RETURN, if_true: 0, if_false: 0, operand }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    /// A system call as a filter sees it.
    #[derive(Debug, Clone, Copy)]
    pub(in crate::sandbox) struct Call {
        pub(in crate::sandbox) architecture: u32,
        pub(in crate::sandbox) number: u32,
        pub(in crate::sandbox) arguments: [u64; 6],
    }

    /// What the filter answers: the error number, or `None` where it lets through.
    pub(in crate::sandbox) fn judge(program: &[Instruction], call: Call) -> Option<u32> {
        let mut data = Vec::new();
        data.extend(call.number.to_le_bytes());
        data.extend(call.architecture.to_le_bytes());
        data.extend(0u64.to_le_bytes());
        call.arguments.iter().for_each(|argument| data.extend(argument.to_le_bytes()));
        let (mut at, mut value) = (0, 0);
        loop {
            let one = program[at];
            at += 1;
            match one.code {
                LOAD => {
                    let from = one.operand as usize;
                    value = u32::from_le_bytes(data[from..from + 4].try_into().unwrap());
                }
                AND => value &= one.operand,
                JUMP_EQUAL | JUMP_AT_LEAST => {
                    let holds =
                        if one.code == JUMP_EQUAL { value == one.operand } else { value >= one.operand };
                    at += usize::from(if holds { one.if_true } else { one.if_false });
                }
                RETURN if one.operand == ALLOW => return None,
                RETURN => return Some(one.operand & 0xffff),
                code => panic!("{code:#x} is not an instruction that we use"),
            }
        }
    }

    const HERE: u32 = 7;

    fn call(number: u32, first: u64) -> Call {
        Call { architecture: HERE, number, arguments: [first, 0, 0, 0, 0, 0] }
    }

    #[test]
    fn a_rule_refuses_its_call_and_no_other() {
        let program = program(HERE, &[Rule { call: 5, when: vec![], errno: 1 }]);
        assert_eq!(judge(&program, call(5, 0)), Some(1));
        assert_eq!(judge(&program, call(4, 0)), None);
    }

    #[test]
    fn a_rule_with_conditions_wants_all_of_them() {
        let when = vec![
            Condition { argument: 0, mask: 0xf0, test: Test::IsNot(0) },
            Condition { argument: 0, mask: 0x0f, test: Test::Is(2) },
        ];
        let rules = [Rule { call: 5, when, errno: 1 }, Rule { call: 6, when: vec![], errno: 2 }];
        let program = program(HERE, &rules);
        assert_eq!(judge(&program, call(5, 0x12)), Some(1));
        assert_eq!(judge(&program, call(5, 0x02)), None);
        assert_eq!(judge(&program, call(5, 0x13)), None);
        assert_eq!(judge(&program, call(6, 0x12)), Some(2));
    }

    #[test]
    fn another_architecture_and_x32_reach_nothing() {
        let program = program(HERE, &[]);
        assert_eq!(judge(&program, Call { architecture: HERE + 1, ..call(5, 0) }), Some(38));
        assert_eq!(judge(&program, call(FIRST_X32 + 5, 0)), Some(38));
    }
}
