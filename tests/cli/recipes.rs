//! Servers that are reached in ways of their own, as the page on configuration says: each of its recipes is run against a front
//! that is played here, behind a proxy, with the programs that print keys played too.

use crate::world::World;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpListener;
use std::os::unix::fs::PermissionsExt;
use std::sync::{Arc, Mutex};

const PAGE: &str = include_str!("../../server/config/CONFIGURATION.md");

/// The words of the fronts, each in its protocol.
const SAID: [(&str, &str); 3] = [
    (
        "/chat/completions",
        r#"{"choices":[{"index":0,"delta":{"content":"Hello."},"finish_reason":"stop"}]}"#,
    ),
    (
        "/responses",
        r#"{"type":"response.completed","response":{"id":"r","status":"completed","output":[{"type":"message","id":"m","content":[{"type":"output_text","text":"Hello."}]}]}}"#,
    ),
    (
        "/messages",
        r#"{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"Hello."}}"#,
    ),
];
const ANTHROPIC_END: &str = "data: {\"type\":\"message_delta\",\"delta\":{\"stop_reason\":\"end_turn\"}}\n\ndata: {\"type\":\"message_stop\"}\n\n";

/// A proxy that plays all servers behind it; the heads of the requests to models, in lower case.
fn front() -> (String, Arc<Mutex<Vec<String>>>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap().to_string();
    let seen: Arc<Mutex<Vec<String>>> = Arc::default();
    let heads = seen.clone();
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.unwrap();
            let mut reader = BufReader::new(stream.try_clone().unwrap());
            let (mut head, mut length) = (String::new(), 0);
            while let Ok(read) = reader.read_line(&mut head)
                && read > 2
            {}
            let head = head.to_ascii_lowercase();
            for line in head.lines() {
                if let Some(value) = line.strip_prefix("content-length:") {
                    length = value.trim().parse().unwrap();
                }
            }
            reader.read_exact(&mut vec![0; length]).unwrap();
            let path = head.split([' ', '?']).nth(1).unwrap_or_default().to_owned();
            let said = SAID.iter().find(|(end, _)| path.ends_with(end));
            let (status, body) = match said {
                Some((end, said)) => {
                    heads.lock().unwrap().push(head);
                    let tail = if *end == "/messages" { ANTHROPIC_END } else { "data: [DONE]\n\n" };
                    ("200 OK", format!("data: {said}\n\n{tail}"))
                }
                None => ("404 Not Found", "no".to_owned()),
            };
            let length = body.len();
            let _ = write!(
                stream,
                "HTTP/1.1 {status}\r\ncontent-type: text/event-stream\r\nconnection: close\r\ncontent-length: {length}\r\n\r\n{body}"
            );
        }
    });
    (address, seen)
}

/// The recipes of the page, in order.
fn recipes() -> Vec<String> {
    let (_, rest) = PAGE.split_once("*Azure, Vertex, Bedrock*").unwrap();
    let (section, _) = rest.split_once("*Local models*").unwrap();
    section
        .split("```toml\n")
        .skip(1)
        .map(|block| block.split("```").next().unwrap().to_owned())
        .collect()
}

#[test]
fn each_recipe_of_the_page_reaches_its_server_with_its_key() {
    const TOKEN: &str = "token-0123456789abcdef";
    let recipes = recipes();
    let expected = [
        "post http://name.openai.azure.com/openai/v1/responses ",
        "post http://name.openai.azure.com/openai/deployments/deployment/chat/completions?api-version=2024-10-21 ",
        "post http://aiplatform.googleapis.com/v1/projects/project/locations/global/endpoints/openapi/chat/completions ",
        "post http://bedrock-runtime.us-west-2.amazonaws.com/anthropic/v1/messages ",
    ];
    assert_eq!(recipes.len(), expected.len());
    for (recipe, expected) in recipes.iter().zip(expected) {
        let (proxy, heads) = front();
        let world = World::new("http://127.0.0.1:9");
        // No certificates are played.
        world.configure(&recipe.replace("base_url = \"https:", "base_url = \"http:"));
        let programs = world.home("programs");
        std::fs::create_dir_all(&programs).unwrap();
        let json = format!(r#"{{"accessToken":"{TOKEN}","expires_on":4000000000}}"#);
        for (name, printed) in [("az", &*json), ("gcloud", TOKEN)] {
            let file = programs.join(name);
            std::fs::write(&file, format!("#!/bin/sh\necho '{printed}'\n")).unwrap();
            std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o755)).unwrap();
        }
        let ran: crate::world::Ran = world
            .ropewalk(&["run", "hello"])
            .env("PATH", format!("{}:/usr/bin:/bin", programs.display()))
            .env("http_proxy", &proxy)
            .env("AWS_BEARER_TOKEN_BEDROCK", TOKEN)
            .output()
            .unwrap()
            .into();
        let ran = ran.ended(0);
        assert!(ran.out.contains("Hello.") && !format!("{ran:?}").contains(TOKEN), "{ran:?}");
        let heads = heads.lock().unwrap();
        assert!(heads[0].starts_with(expected), "{heads:?}");
        assert!(heads[0].contains(&format!("\r\nauthorization: bearer {TOKEN}\r\n")), "{heads:?}");
    }
}
