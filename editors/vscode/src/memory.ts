// What outlives the window: drafts, earlier prompts, the session. VS Code's own memory is written late, and a window that is reloaded
// meanwhile forgets; this one is a file, written at once.

import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';

/** The values, by names that never change. */
export interface Remembered {
    /** Typed in the chat and not sent. */
    chatDraft?: string | undefined;
    /** Typed to teammates and not sent, by their sessions. */
    teammateDrafts?: Record<string, string>;
    /** Typed in the box at a selection and not sent. */
    askDraft?: string | undefined;
    /** Prompts that were sent, the last one first. */
    prompts?: string[];
    /** The window's session, and when it was there last, in milliseconds since 1970. */
    session?: { session: string; at: number };
}

export class Memory {
    private readonly path: string;
    private values: Remembered = {};

    /** `path` is of a file that may not be there yet. */
    constructor(path: string) {
        this.path = path;
        try {
            this.values = JSON.parse(readFileSync(path, 'utf8')) as Remembered;
        } catch {
            // There is none yet, or it was cut off: nothing is remembered.
        }
    }

    get<K extends keyof Remembered>(name: K): Remembered[K] {
        return this.values[name];
    }

    /** Remembers a value; what can't be written is remembered until the window closes. */
    put<K extends keyof Remembered>(name: K, value: Remembered[K]): void {
        if (this.values[name] === value) return;
        this.values = { ...this.values, [name]: value };
        try {
            mkdirSync(dirname(this.path), { recursive: true });
            // Another name first: a crash amid the writing leaves the old file.
            writeFileSync(`${this.path}.new`, JSON.stringify(this.values), { mode: 0o600 });
            renameSync(`${this.path}.new`, this.path);
        } catch {
            // A full or read-only disk must not keep the user from typing.
        }
    }
}
