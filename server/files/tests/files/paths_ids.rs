//! Document ids: spellings that are one document, spellings that are not, and what never panics.

use std::path::{Path, PathBuf};

use proptest::prelude::*;
use ropewalk_files::DocId;

fn id(uri: &str) -> DocId {
    DocId::from_uri(uri)
}

#[test]
fn spellings_of_one_file_are_one_id() {
    for (uri, canonical) in [
        ("file:///a/b.rs", "file:///a/b.rs"),
        ("FILE:///a/b.rs", "file:///a/b.rs"),
        ("file:/a/b.rs", "file:///a/b.rs"),
        ("file://localhost/a/b.rs", "file:///a/b.rs"),
        ("file://LocalHost/a/b.rs", "file:///a/b.rs"),
        ("file:///a//b.rs", "file:///a/b.rs"),
        ("file:////a/b.rs", "file:///a/b.rs"),
        ("file:///a/./x/../b.rs", "file:///a/b.rs"),
        ("file:///../../a/b.rs", "file:///a/b.rs"),
        ("file:///a/x/%2e%2E/b.rs", "file:///a/b.rs"),
        ("file:///a%2Fb.rs", "file:///a/b.rs"),
        ("file:///%61/b%2ers", "file:///a/b.rs"),
        ("file:///a/", "file:///a"),
        ("file:///", "file:///"),
        ("file:///a b/é/😀", "file:///a%20b/%C3%A9/%F0%9F%98%80"),
        ("file:///a%20b/%c3%a9/%f0%9f%98%80", "file:///a%20b/%C3%A9/%F0%9F%98%80"),
        ("file:///a/%23%3F%25%5B%5D", "file:///a/%23%3F%25%5B%5D"),
        ("file:///a+b@c=(d)!$&',;:~", "file:///a+b@c=(d)!$&',;:~"),
        ("file:///a%2Bb%40c", "file:///a+b@c"),
        // Escapes that are broken stand for themselves.
        ("file:///100%", "file:///100%25"),
        ("file:///100%25", "file:///100%25"),
        ("file:///%zz%4", "file:///%25zz%254"),
        // Drives.
        ("file:///c:/Users/x", "file:///C:/Users/x"),
        ("file:///c%3A/Users/x", "file:///C:/Users/x"),
        ("file:///C%3a/Users/x", "file:///C:/Users/x"),
        ("file:///c:", "file:///C:/"),
        ("file:///c:/../../x", "file:///C:/x"),
        // Shares.
        ("file://Server/share/x", "file://server/share/x"),
        // Bytes that are no text.
        ("file:///a/%ff%FE", "file:///a/%FF%FE"),
    ] {
        assert_eq!(id(uri).as_str(), canonical, "{uri}");
        assert_eq!(id(canonical).as_str(), canonical, "{canonical} is not stable");
    }
}

#[test]
fn what_names_no_file_is_kept_whole_and_has_no_path() {
    for (uri, kept) in [
        ("untitled:Untitled-1", "untitled:Untitled-1"),
        ("UNTITLED:Untitled-1", "untitled:Untitled-1"),
        ("untitled:/a/../b%20c", "untitled:/a/../b%20c"),
        (
            "vscode-notebook-cell:/a.ipynb#W0sZmlsZQ%3D%3D",
            "vscode-notebook-cell:/a.ipynb#W0sZmlsZQ%3D%3D",
        ),
        ("vscode-remote://ssh-remote%2Bh/a", "vscode-remote://ssh-remote%2Bh/a"),
        ("file:///a.ipynb#cell1", "file:///a.ipynb#cell1"),
        ("file:///a?b", "file:///a?b"),
        ("file:a", "file:a"),
        ("file:", "file:"),
        ("file://", "file://"),
        ("file://host", "file://host"),
        ("file:///a%00b", "file:///a%00b"),
        ("", ""),
        (":", ":"),
        ("no scheme", "no scheme"),
        ("/a/b", "/a/b"),
        ("é:x", "é:x"),
        // Raw and escaped are one, as parsers of URLs have it.
        ("untitled:Ünsaved note", "untitled:%C3%9Cnsaved%20note"),
        ("untitled:%C3%9Cnsaved%20note", "untitled:%C3%9Cnsaved%20note"),
    ] {
        assert_eq!(id(uri).as_str(), kept);
        assert_eq!(id(uri).path(), None, "{uri}");
    }
    assert_ne!(id("file:///a.ipynb#1"), id("file:///a.ipynb#2"));
}

#[cfg(unix)]
#[test]
fn a_file_has_its_path() {
    use std::os::unix::ffi::OsStrExt as _;
    for (uri, path) in [
        ("file:///a%20b/%C3%A9", "/a b/é"),
        ("file:///", "/"),
        ("file:///a\nb", "/a\nb"),
        ("file:///a%5Cb", "/a\\b"),
        ("file:///%7E/x", "/~/x"),
    ] {
        assert_eq!(id(uri).path(), Some(PathBuf::from(path)), "{uri}");
    }
    let bytes = id("file:///a/%FF").path().unwrap();
    assert_eq!(bytes.as_os_str().as_bytes(), b"/a/\xff");
    // A share is no path here.
    assert_eq!(id("file://server/share").path(), None);
    assert_eq!(DocId::from_path(Path::new("/a b/#1?")).to_uri(), "file:///a%20b/%231%3F");
    assert_eq!(DocId::from_path(Path::new("relative/x")).path(), None);
    assert_eq!(DocId::from_path(Path::new("")).path(), None);
}

#[test]
fn it_is_a_string_in_json_and_made_at_that_door_too() {
    let read: DocId = serde_json::from_str(r#""FILE:///a/./b""#).unwrap();
    assert_eq!(read, id("file:///a/b"));
    assert_eq!(serde_json::to_string(&read).unwrap(), r#""file:///a/b""#);
}

proptest! {
    #[test]
    fn any_string_gives_a_stable_id(
        uri in prop_oneof![any::<String>(), "(file|FILE|untitled)?:?/{0,4}[a-cC:%2fF0.#?é /]{0,20}"],
    ) {
        let once = id(&uri);
        prop_assert_eq!(&id(once.as_str()), &once);
        if let Some(path) = once.path() {
            prop_assert_eq!(DocId::from_path(&path), once);
            prop_assert!(path.is_absolute());
            prop_assert!(path.components().all(|part| part.as_os_str() != ".."));
        }
    }

    #[cfg(unix)]
    #[test]
    fn any_path_comes_back(bytes in prop::collection::vec(1u8..=255, 0..40)) {
        use std::os::unix::ffi::OsStringExt as _;
        let mut path = b"/".to_vec();
        path.extend(bytes);
        let path = PathBuf::from(std::ffi::OsString::from_vec(path));
        let doc = DocId::from_path(&path);
        prop_assert!(doc.as_str().is_ascii());
        prop_assert_eq!(&id(&doc.to_uri()), &doc);
        let plain = path.components().all(|part| part.as_os_str() != "..");
        let drive = doc.as_str().chars().nth(9) == Some(':');
        if plain && !drive {
            prop_assert_eq!(doc.path(), Some(path.components().collect::<PathBuf>()));
        }
    }
}
