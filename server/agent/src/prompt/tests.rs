//! Checks the words that the model is given.

use super::*;

#[test]
fn a_selection_with_fences_stays_in_its_own() {
    let selection = SelectedText {
        file: "a.md".into(),
        language: "md".into(),
        lines: (1, 1),
        text: "````x".into(),
    };
    let text =
        user_text(&Prompt { selection: Some(selection), ..Prompt::new("hi") }, &[], None, "");
    assert_eq!(
        text,
        "<selection file=\"a.md\" lines=\"1-1\">\n`````md\n````x\n`````\n</selection>\nhi"
    );
}

#[test]
fn the_mode_is_said_while_it_is_plan_and_once_after() {
    let said = |mode, before: &[&str]| mode_text(mode, before.iter().rev().copied());
    let (plan, over) = (format!("{PLAN}look"), format!("{PLAN_IS_OVER}go"));
    assert_eq!(said(Mode::Plan, &[]), PLAN);
    assert_eq!(said(Mode::Plan, &[&plan]), PLAN);
    assert_eq!(said(Mode::Review, &[]), "");
    assert_eq!(said(Mode::Review, &["hi", &plan, "results"]), PLAN_IS_OVER);
    assert_eq!(said(Mode::Auto, &[&plan, &over, "results"]), "");
    assert_eq!(said(Mode::Auto, &[&plan, &over, &plan]), PLAN_IS_OVER);
    let text = user_text(&Prompt::new("look"), &[], None, PLAN);
    assert!(text.starts_with("<mode>\n") && text.ends_with("</mode>\nlook"), "{text}");
}

#[test]
fn no_word_of_the_code_and_no_lost_space_and_no_editor_where_there_is_none() {
    for commands in [CommandMode::OverFork, CommandMode::Copy, CommandMode::InPlace] {
        for (lean, headless) in [(false, false), (false, true), (true, false), (true, true)] {
            let (commands, has_file_tools) = (Some(commands), true);
            let facts =
                PromptFacts { commands, has_file_tools, lean, headless, ..PromptFacts::default() };
            let text = system_prompt(&facts, &Roots::none());
            let words = text.replace(|c: char| !c.is_alphanumeric(), " ").to_lowercase();
            assert!(!words.split(' ').any(|word| word.starts_with("fork")), "{text}");
            assert_eq!(words.contains("editor"), !headless, "{text}");
            assert!(text.contains("a private copy of the project"), "{text}");
            for part in ["independent reads together", "Go on until", "Do not commit"] {
                assert!(text.contains(part), "no {part}: {text}");
            }
            let lost = text.as_bytes().windows(2).any(|pair| {
                pair.first() == Some(&b'.') && pair.last().is_some_and(u8::is_ascii_uppercase)
            });
            assert!(!lost, "{text}");
        }
    }
}

#[test]
fn instructions_and_skills_stand_behind_a_replaced_prompt_too() {
    let instructions = vec![Instructions {
        file: "AGENTS.md".into(),
        text: "Be kind.".into(),
        ..Instructions::default()
    }];
    let skills = "\nSkills: none\n".to_owned();
    let facts = PromptFacts { instructions, skills, ..PromptFacts::default() };
    let end = "<instructions file=\"AGENTS.md\">\nBe kind.\n</instructions>\n\nSkills: none\n";
    assert!(system_prompt(&facts, &Roots::none()).ends_with(end));
    let replaced = PromptFacts { replace: Some("Be brief.".into()), ..facts };
    let text = system_prompt(&replaced, &Roots::none());
    assert!(text.starts_with("Be brief.") && text.ends_with(end), "{text}");
    assert!(!system_prompt(&PromptFacts::default(), &Roots::none()).contains("the marks"));
}

#[test]
fn the_prompt_speaks_only_of_tools_there_are() {
    let facts = PromptFacts { commands: Some(CommandMode::InPlace), ..PromptFacts::default() };
    let text = system_prompt(&facts, &Roots::none());
    assert!(text.contains("Commands have no terminal") && !text.contains("Prefer the file tools"));
    let replaced =
        PromptFacts { replace: Some("Be brief.".into()), append: Some("Now.".into()), ..facts };
    assert_eq!(system_prompt(&replaced, &Roots::none()), "Be brief.\nNow.");
}
