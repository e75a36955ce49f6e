//! The section of the system prompt that lists the skills, and lists of the same kind.

/// The most bytes of the list.
pub(crate) const MOST: usize = 8 << 10;

const INTRODUCTION: &str = "
Skills: instructions for special tasks, kept in files of the user or the repository. Before you begin a task that one \
of them fits, load it with load_skill and follow it:
";

const CUT: &str = "…";

/// The list with its introduction, by names and descriptions; nothing if there are none.
pub fn section(skills: &[(&str, &str)]) -> String {
    match skills.is_empty() {
        true => String::new(),
        false => INTRODUCTION.to_owned() + &list(skills),
    }
}

/// A line for each, of names and descriptions. Where all would be longer than [`MOST`] the descriptions shrink evenly, and no
/// name is left out.
pub fn list(all: &[(&str, &str)]) -> String {
    let size = |most: usize| {
        all.iter().map(|(name, description)| line(name, description, most).len()).sum::<usize>()
    };
    let (mut fits, mut too_much) = (0, MOST + 1);
    while fits + 1 < too_much {
        let middle = usize::midpoint(fits, too_much);
        if size(middle) <= MOST { fits = middle } else { too_much = middle }
    }
    all.iter().map(|(name, description)| line(name, description, fits)).collect()
}

/// One line, with at most so many bytes of its description.
fn line(name: &str, description: &str, most: usize) -> String {
    let description = cut(description, most);
    match description.is_empty() {
        true => format!("- {name}\n"),
        false => format!("- {name}: {description}\n"),
    }
}

fn cut(text: &str, most: usize) -> String {
    if text.len() <= most {
        return text.to_owned();
    }
    let room = most.saturating_sub(CUT.len());
    let end = (0..=room).rev().find(|at| text.is_char_boundary(*at)).unwrap_or_default();
    match text.get(..end).map(str::trim_end) {
        Some(start) if !start.is_empty() => format!("{start}{CUT}"),
        _ => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn what_fits_is_whole() {
        let text = section(&[("pdf", "Fill forms."), ("übung", "日本語")]);
        assert_eq!(text, format!("{INTRODUCTION}- pdf: Fill forms.\n- übung: 日本語\n"));
        assert_eq!(section(&[]), "");
    }

    proptest! {
        #[test]
        fn every_name_stays_and_it_is_short_enough(
            skills in prop::collection::vec(("[a-z]{1,20}", "[a-zé日 ]{0,300}"), 1..300)
        ) {
            let all: Vec<(&str, &str)> =
                skills.iter().map(|(name, said)| (&**name, &**said)).collect();
            let text = section(&all);
            let list = text.strip_prefix(INTRODUCTION).unwrap();
            let names: usize = all.iter().map(|(name, _)| name.len() + "- \n".len()).sum();
            prop_assert!(list.len() <= MOST.max(names), "{} bytes", list.len());
            prop_assert_eq!(list.lines().count(), all.len());
            let longest = list.lines().map(str::len).max().unwrap_or_default();
            for (line, (name, said)) in list.lines().zip(&all) {
                let said = said.trim_end();
                let start = format!("- {name}");
                prop_assert!(line.starts_with(&start), "{}", line);
                // Evenly: none is cut that is shorter than another is after it was cut.
                if line.ends_with(CUT) && !said.ends_with(CUT) {
                    prop_assert!(longest <= line.len() + 20 + "日é".len() * 2, "{longest} {}", line);
                }
            }
        }
    }
}
