;;; The conversation document in real Emacs, with the set-up of editors/README.md. -*- lexical-binding: t -*-
;; Ends with status 0 when all was so, else says what was not.

(require 'eglot)
(load (getenv "RECIPE") nil t)

(defun wait (what test)
  "Wait until TEST holds; it is about WHAT."
  (let ((end (+ (float-time) 60)))
    (while (not (funcall test))
      (when (> (float-time) end)
        (error "Waited in vain for %s in:\n%s" what (buffer-string)))
      ;; Without a command loop Emacs is never idle, when eglot tells what was typed.
      (when (eglot-managed-p) (eglot--signal-textDocument/didChange))
      (accept-process-output nil 0.02))))

(defun wait-for (words)
  "Wait until the buffer has WORDS."
  (wait words (lambda () (let (case-fold-search) (string-match-p (regexp-quote words) (buffer-string))))))

(defun act (title)
  "Do the code action TITLE at point."
  (let* ((all (eglot-code-actions (point) (point) nil nil))
         (one (seq-find (lambda (it) (string= (plist-get it :title) title)) all)))
    (unless one (error "No %s among %S" title (mapcar (lambda (it) (plist-get it :title)) all)))
    (let ((command (plist-get one :command)))
      (eglot-execute-command (eglot-current-server) (plist-get command :command)
                             (plist-get command :arguments)))))

(find-file "notes.py")
(apply #'eglot (eglot--guess-contact))
(wait "the server" #'eglot-current-server)
(ropewalk-chat)
(wait "the server of the page" #'eglot-managed-p)
(goto-char (point-max))
(insert "capitals")
(act "Ropewalk: send")
(wait-for "## Ropewalk\n")
;; Keys, while answers come.
(goto-char (point-max))
(dotimes (number 200)
  (insert (format "%d " number))
  (accept-process-output nil 0.005))
(wait-for "- notes.py:2 ")
(unless (string-suffix-p (concat "## You\n\n" (mapconcat #'number-to-string (number-sequence 0 199) " ") " ")
                         (buffer-string))
  (error "Typed text is not as it was typed:\n%s" (buffer-string)))
(search-backward "- notes.py:2")
(act "Ropewalk: accept this change")
(with-current-buffer "notes.py" (wait-for "TWO") (eglot--signal-textDocument/didChange))
(wait-for "Changed:")
(princ (buffer-string))
(let (kill-emacs-hook) (kill-emacs 0))
