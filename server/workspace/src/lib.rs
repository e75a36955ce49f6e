//! Open documents, files, forks, and how changes reach the editor.
