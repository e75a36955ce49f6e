//! Teams: the board is the user's alone and shows no password, and a repository may only make less of a team.

use crate::world::{PROJECT, RULES, SECOND, SYSTEM, USER, World, check};
use ropewalk_config::{BOARD_VARIABLE, Config};
use serde_json::json;

const URL: &str = "postgres://ada:correct-horse-battery@db.example/team";
const SHOWN: &str = "\"postgres://ada:[key]@db.example/team\"";

/// Expects that no word of a configuration that anybody is shown has the password.
#[track_caller]
fn check_secret(config: &Config) {
    let shown = format!("{config:?}");
    assert!(!shown.contains("correct-horse"), "{shown}");
    for problem in &config.problems {
        assert!(!problem.to_string().contains("correct-horse"), "{problem}");
    }
}

#[test]
fn a_board_is_the_users_by_a_file_a_flag_or_the_variable() {
    let said = format!("[team]\nboard = '{URL}'");
    for (world, from) in [
        (World::new().file(USER, &said), "~/.config/ropewalk/config.toml:2"),
        (World::new().file(SYSTEM, &said), "/etc/ropewalk/config.toml:2"),
        (World::new().var(BOARD_VARIABLE, URL), BOARD_VARIABLE),
        (World::new().file(USER, "team.board = '/a'").var(BOARD_VARIABLE, URL), BOARD_VARIABLE),
        (World::new().var(BOARD_VARIABLE, "/a").flag(&format!("team.board={URL}")), "-c"),
        (
            World::new().file(USER, &said).var(BOARD_VARIABLE, ""),
            "~/.config/ropewalk/config.toml:2",
        ),
    ] {
        check(&world, &[&format!("team.board = {SHOWN} < {from}")], &[]);
        let config = world.build();
        assert_eq!(config.team.board.as_ref().unwrap().whole(), URL);
        check_secret(&config);
    }
    let world = World::new().file(USER, "team.board = 'teams/here.db'");
    check(
        &world,
        &[
            "team.board = \"/home/ada/.config/ropewalk/teams/here.db\" < ~/.config/ropewalk/config.toml:1",
        ],
        &[],
    );
    let world = World::new().var(BOARD_VARIABLE, "~/here.db");
    check(&world, &["team.board = \"/home/ada/here.db\" < ROPEWALK_BOARD"], &[]);
    let world = World::new().file(USER, &said).flag("team.board=");
    check(&world, &["team.board = none < -c"], &[]);
}

#[test]
fn nobody_else_names_a_board_and_no_refusal_repeats_it() {
    let said = format!("team.board = '{URL}'");
    for (world, problem) in [
        (
            World::new().file(PROJECT, &said),
            "`team.board` in /code/app/.ropewalk/config.toml:1 is ignored: it is about more than this project; put it into ~/.config/ropewalk/config.toml",
        ),
        (
            World::new().file(RULES, &said),
            "`team.board` in ~/.config/ropewalk/rules.toml:1 is ignored: that file holds only `allow`, `ask` and `deny`; put it into ~/.config/ropewalk/config.toml",
        ),
        (
            World::new().initialization(json!({ "team": { "board": URL } })),
            "`team.board` in initializationOptions is ignored: it says where your work goes; put it into ~/.config/ropewalk/config.toml",
        ),
        (
            World::new().settings(json!({ "ropewalk.team.board": URL })),
            "`team.board` in the editor's settings is ignored: it says where your work goes; put it into ~/.config/ropewalk/config.toml",
        ),
        (
            World::new().file(SYSTEM, "locked = ['team.board']").var(BOARD_VARIABLE, URL),
            "`team.board` in ROPEWALK_BOARD is ignored: it is locked by /etc/ropewalk/config.toml:1",
        ),
        (
            World::new().var(BOARD_VARIABLE, &URL.replace("postgres:", "mysql:")),
            "`team.board` in ROPEWALK_BOARD must be a path, or a URL that begins with `postgres://`; it is ignored",
        ),
        (
            World::new().flag("team.board=here.db"),
            "`team.board` in -c must be a path, or a URL that begins with `postgres://`; it is ignored",
        ),
        (
            World::new().file(USER, said.replace("postgres://", "")),
            "`team.board` in ~/.config/ropewalk/config.toml:1 must be a path, or a URL that begins with `postgres://`; it is ignored",
        ),
        (
            World::new().var(BOARD_VARIABLE, "here.db"),
            "`team.board` in ROPEWALK_BOARD must be a path, or a URL that begins with `postgres://`; it is ignored",
        ),
    ] {
        check(&world, &["team.board = none < built in"], &[problem]);
        check_secret(&world.build());
    }
}

#[test]
fn a_password_stays_secret_after_a_higher_layer_has_named_another_board() {
    let world = World::new().file(USER, format!("team.board = '{URL}'")).flag("team.board=/b");
    let secrets = world.build().boards.iter().flat_map(|board| board.secrets()).collect::<Vec<_>>();
    assert_eq!(secrets, ["correct-horse-battery", "ada:correct-horse-battery@db.example/team"]);
}

#[test]
fn a_repository_may_make_less_of_a_team_and_no_more() {
    let fewer =
        "[team]\nteammates = 2\ntokens = 5000\ncents = 10\nwake = 0\nattempts = 1\nenabled = false";
    check(
        &World::new().file(USER, "team.enabled = true").file(PROJECT, fewer),
        &[
            "team.teammates = 2 < /code/app/.ropewalk/config.toml:2",
            "team.tokens = 5000 < /code/app/.ropewalk/config.toml:3",
            "team.cents = 10 < /code/app/.ropewalk/config.toml:4",
            "team.wake = 0 < /code/app/.ropewalk/config.toml:5",
            "team.attempts = 1 < /code/app/.ropewalk/config.toml:6",
            "team.enabled = false < /code/app/.ropewalk/config.toml:7",
        ],
        &[],
    );
    let own = "team.teammates = 2\nteam.tokens = 5000\nteam.cents = 10\nteam.enabled = false";
    let more = "team.teammates = 7\nteam.tokens = 6000\nteam.cents = 11\nteam.enabled = true";
    let world = World::new().file(USER, own).file(PROJECT, more).file(SECOND, "team.teammates = 1");
    let config = world.build();
    let [asked] = &config.untrusted[..] else { panic!("{:?}", config.untrusted) };
    assert_eq!(
        asked.enables,
        [
            "raise `team.teammates` to 7",
            "raise `team.tokens` to 6000",
            "raise `team.cents` to 11",
            "switch on teams"
        ]
    );
    let team = config.team;
    assert_eq!((team.enabled, team.bounds.teammates), (false, 1));
    assert_eq!((team.bounds.token_budget(), team.bounds.cent_budget()), (Some(5000), Some(10)));
    // How long others wait on a board that they share is none of a repository's business.
    let config =
        World::new().file(PROJECT, "team.lease = 10\nteam.poll = 1\nteam.idle = 9").build();
    assert_eq!((config.problems.len(), config.untrusted.len()), (3, 0), "{:?}", config.problems);
}

#[test]
fn bounds_have_ranges_and_none_is_no_budget() {
    let bounds = World::new().build().team.bounds;
    assert_eq!((bounds.token_budget(), bounds.cent_budget()), (None, None));
    check(
        &World::new().file(USER, "team.teammates = 8\nteam.lease = 1"),
        &["team.teammates = 4 < built in", "team.lease = 60 < built in"],
        &[
            "`team.teammates` in ~/.config/ropewalk/config.toml:1 must be a whole number from 1 to 7, not 8; it is ignored",
            "`team.lease` in ~/.config/ropewalk/config.toml:2 must be a whole number from 8 to 3600, not 1; it is ignored",
        ],
    );
}

#[test]
fn an_editor_that_takes_events_of_the_team_may_configure_it_too() {
    check(
        &World::new().initialization(json!({ "team": true })),
        &["team.teammates = 4 < built in"],
        &[],
    );
    for options in
        [json!({ "team": { "teammates": 2 } }), json!({ "team": true, "team.teammates": 2 })]
    {
        let world = World::new().initialization(options);
        check(&world, &["team.teammates = 2 < initializationOptions"], &[]);
    }
}
