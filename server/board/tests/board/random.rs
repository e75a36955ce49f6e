//! Random sequences of what members do. Whatever happens, each task is completed once, none before those it waits for,
//! and only by a claim that is the task's last.

use crate::ground::{Ground, join};
use proptest::prelude::*;
use ropewalk_board::{
    BoardError, Claim, MemberState, Membership, NewTask, ReturnReason, TaskStatus, Team,
};
use std::collections::BTreeMap;

/// One thing that somebody does. Numbers are taken modulo what there is.
#[derive(Debug, Clone)]
enum Step {
    Create(Vec<u8>),
    Edge(u8, u8),
    Claim(u8),
    Complete(u8),
    Fail(u8),
    Leave(u8),
    Restart(u8),
    Rejoin(u8),
    RefuseBundle,
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let step = prop_oneof![
        2 => prop::collection::vec(any::<u8>(), 0..3).prop_map(Step::Create),
        1 => (any::<u8>(), any::<u8>()).prop_map(|(task, other)| Step::Edge(task, other)),
        5 => any::<u8>().prop_map(Step::Claim),
        5 => any::<u8>().prop_map(Step::Complete),
        1 => any::<u8>().prop_map(Step::Fail),
        1 => any::<u8>().prop_map(Step::Leave),
        1 => any::<u8>().prop_map(Step::Restart),
        1 => any::<u8>().prop_map(Step::Rejoin),
        1 => Just(Step::RefuseBundle),
    ];
    prop::collection::vec(step, 1..40)
}

/// Members, two of which have leases that are over at once, and all claims that were ever made.
struct Crew {
    team: Team,
    members: Vec<Membership>,
    claims: Vec<(usize, Claim)>,
    /// Completions that counted, by task, with its attempt.
    done: BTreeMap<i64, i64>,
}

impl Crew {
    async fn new(ground: &Ground) -> Self {
        let (team, fleeting) = (ground.team().await, ground.fleeting().await);
        let members = vec![
            join(&team, "alice", "").await,
            join(&fleeting, "bob", "").await,
            join(&fleeting, "carol", "").await,
        ];
        Self { team, members, claims: Vec::new(), done: BTreeMap::new() }
    }

    fn claim_of(&self, number: u8) -> Option<(usize, Claim)> {
        let at = usize::from(number).checked_rem(self.claims.len())?;
        self.claims.get(at).copied()
    }

    async fn play(&mut self, step: &Step) {
        let tasks = self.team.tasks(0, 1000).await.unwrap();
        let number = |at: u8| Some(tasks[usize::from(at).checked_rem(tasks.len())?].number);
        match step {
            Step::Create(others) => {
                let blocked_by = others.iter().filter_map(|at| number(*at)).collect();
                self.team.create("x", &NewTask { blocked_by, ..NewTask::default() }).await.unwrap();
            }
            Step::Edge(task, other) => {
                if let (Some(task), Some(other)) = (number(*task), number(*other)) {
                    let _ = self.team.add_edge("x", task, other).await;
                }
            }
            Step::Claim(at) => {
                let at = usize::from(*at) % self.members.len();
                if let Some(task) = self.members[at].claim().await.unwrap() {
                    assert!(task.blocked_by.is_empty() && !self.done.contains_key(&task.number));
                    assert!(self.claims.iter().all(|(_, claim)| *claim != task.claim()));
                    self.claims.push((at, task.claim()));
                }
            }
            Step::Complete(claim) => {
                if let Some((at, claim)) = self.claim_of(*claim) {
                    self.complete(at, claim).await;
                }
            }
            Step::Fail(claim) | Step::Leave(claim) => {
                if let Some((at, claim)) = self.claim_of(*claim) {
                    let reason = match step {
                        Step::Fail(..) => ReturnReason::Failed("x".to_owned()),
                        _ => ReturnReason::Leaving,
                    };
                    let _ = self.members[at].give_back(claim, &reason).await;
                }
            }
            Step::Restart(task) => {
                if let Some(task) = number(*task) {
                    let _ = self.team.restart("x", task).await;
                }
            }
            Step::Rejoin(at) => {
                let at = usize::from(*at) % self.members.len();
                let old = &self.members[at];
                let new = old.team().rejoin(old.name(), old.epoch(), "").await.unwrap();
                assert!(matches!(
                    old.set_state(MemberState::Idle).await,
                    Err(BoardError::Superseded(_))
                ));
                self.members[at] = new;
            }
            Step::RefuseBundle => {
                if let Some(bundle) = self.team.waiting_bundles(1).await.unwrap().pop()
                    && self.team.refuse_bundle(bundle.number, "x").await.unwrap().is_some()
                {
                    self.done.remove(&bundle.claim.unwrap().task);
                }
            }
        }
    }

    async fn complete(&mut self, at: usize, claim: Claim) {
        let before = self.team.task(claim.task).await.unwrap();
        if self.members[at].complete(claim, "", Some(b"x")).await.is_err() {
            return;
        }
        assert_eq!(before.attempt, claim.attempt, "only the last claim completes");
        assert_eq!(before.blocked_by, Vec::<i64>::new(), "none before those it waits for");
        let earlier = self.done.insert(claim.task, claim.attempt);
        assert!(earlier.is_none_or(|attempt| attempt == claim.attempt), "each once");
    }

    /// The board's tables say the same as what was seen.
    async fn check(&self) {
        let tasks = self.team.tasks(0, 1000).await.unwrap();
        for task in &tasks {
            let is_done = task.status == TaskStatus::Completed;
            assert_eq!(is_done, self.done.contains_key(&task.number), "{task:?}");
            for other in &task.blocked_by {
                let other = tasks.iter().find(|task| task.number == *other).unwrap();
                assert_ne!(other.status, TaskStatus::Completed, "{task:?} waits for {other:?}");
            }
        }
    }
}

fn play(ground: &Ground, steps: &[Step]) {
    let runtime =
        tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
    runtime.block_on(async {
        let mut crew = Crew::new(ground).await;
        for step in steps {
            crew.play(step).await;
        }
        crew.check().await;
    });
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 40, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn random_steps_keep_the_promises(steps in steps()) {
        play(&Ground::sqlite(), &steps);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 8, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn random_steps_keep_the_promises_on_postgres(steps in steps()) {
        if let Some(ground) = Ground::postgres() {
            play(&ground, &steps);
        }
    }
}
