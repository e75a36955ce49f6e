//! Many `ropewalk worker`s on one board at once, some of which are killed in the midst of it and replaced. All tasks are done,
//! each once, and come to one review, whose text is the right one.

use crate::crew::{Crew, kill};
use crate::story;
use std::process::Child;
use std::time::{Duration, Instant};

/// Numbers of a run.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Crowd {
    pub(crate) workers: usize,
    pub(crate) tasks: usize,
    pub(crate) kills: usize,
}

/// Outcome of a run.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Outcome {
    /// From the first worker's start until all changes were in the review.
    pub(crate) took: Duration,
    /// Processes that were killed while they had a task.
    pub(crate) killed_at_work: usize,
}

impl Crowd {
    /// Runs it, and checks the review.
    pub(crate) fn run(self) -> Outcome {
        let crew = Crew::new(self.tasks, [story::workers()]);
        let editor = crew.lead();
        for line in 0..self.tasks {
            crew.board.add(&format!("Line {line}"), "", &[]);
        }
        let begin = Instant::now();
        let mut names = (0..).map(|number| format!("w{number}"));
        let mut start = || {
            let name = names.next().unwrap();
            (crew.worker(&name, ""), name)
        };
        let mut living: Vec<(Child, String)> = (0..self.workers).map(|_| start()).collect();
        let mut killed_at_work = 0;
        for number in 1..=self.kills {
            self.wait_done(&crew, number * self.tasks / (self.kills + 1));
            let (mut child, name) = living.remove(0);
            kill(&mut child);
            let held = crew.board.ask(crew.board.team().members()).into_iter();
            killed_at_work +=
                held.filter(|member| member.name == name && member.task.is_some()).count();
            crew.board.end_lease(&name);
            living.push(start());
        }
        self.wait_done(&crew, self.tasks);
        crew.wait_taken();
        let took = begin.elapsed();
        living.iter_mut().for_each(|(child, _)| kill(child));
        self.check_log(&crew);
        crew.check(editor, self.tasks);
        Outcome { took, killed_at_work }
    }

    fn wait_done(self, crew: &Crew, count: usize) {
        crew.board.wait(&format!("{count} tasks"), |board| {
            let counts = board.ask(board.team().counts());
            assert_eq!(
                counts.failed,
                0,
                "a task failed: {:#?}",
                board.ask(board.team().tasks(0, 100))
            );
            usize::try_from(counts.completed).unwrap() >= count
        });
    }

    /// Each was completed once, and no bundle was refused.
    fn check_log(self, crew: &Crew) {
        for number in 1..=i64::try_from(self.tasks).unwrap() {
            let story = crew.board.story(number);
            let completed = story.iter().filter(|line| line.starts_with("completed "));
            assert_eq!(completed.count(), 1, "task {number}: {story:?}");
        }
    }
}
