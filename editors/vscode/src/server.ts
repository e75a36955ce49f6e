// Finding the server: the one of the settings, the one in this package, or the one on the path; and if it fits this extension.

import { execFile } from 'node:child_process';
import { accessSync, constants } from 'node:fs';
import { delimiter, isAbsolute, join } from 'node:path';

/** A server that can be started, or why there is none and what mends that. */
export type Found =
    | { path: string; version: string; warning?: string }
    | { problem: string; mend: 'settings' | 'install' };

export interface Places {
    /** `ropewalk.server.path`; empty where it is not set. */
    setting: string;
    /** The folder of the extension. */
    extension: string;
    /** The variable PATH. */
    path: string;
    /** This extension's version. */
    version: string;
    /** The home folder, for `~/`. */
    home: string;
}

const NAME = process.platform === 'win32' ? 'ropewalk.exe' : 'ropewalk';

/** Finds the server and asks its version. */
export async function find(places: Places): Promise<Found> {
    const { setting } = places;
    const candidate = setting ? expanded(setting, places.home) : (bundled(places) ?? onPath(places.path));
    if (!candidate) {
        return {
            problem: 'The Ropewalk server is not installed. Install `ropewalk`, or say where it is.',
            mend: 'install',
        };
    }
    if (!isRunnable(candidate)) {
        return { problem: `There is no program at ${candidate}, which the setting names.`, mend: 'settings' };
    }
    try {
        const version = await versionOf(candidate);
        const warning = mismatch(version, places.version, candidate);
        return warning ? { path: candidate, version, warning } : { path: candidate, version };
    } catch (error) {
        return { problem: `${candidate} can't be run: ${words(error)}`, mend: 'settings' };
    }
}

function expanded(path: string, home: string): string {
    return path.startsWith('~/') ? join(home, path.slice(2)) : path;
}

function bundled({ extension }: Places): string | undefined {
    const path = join(extension, 'bin', NAME);
    return isRunnable(path) ? path : undefined;
}

function onPath(path: string): string | undefined {
    // A relative entry would start what a repository brings.
    const folders = path.split(delimiter).filter(isAbsolute);
    return folders.map((folder) => join(folder, NAME)).find(isRunnable);
}

function isRunnable(path: string): boolean {
    try {
        accessSync(path, constants.X_OK);
        return true;
    } catch {
        return false;
    }
}

function versionOf(program: string): Promise<string> {
    return new Promise((done, failed) => {
        execFile(program, ['--version'], { timeout: 10_000 }, (error, stdout) => {
            if (error) return failed(error);
            const version = /\d+\.\d+\.\d+\S*/.exec(stdout)?.[0];
            if (version) done(version);
            else failed(new Error('it does not say its version'));
        });
    });
}

/** A sentence if server and extension are of versions that were not made for each other. */
export function mismatch(server: string, extension: string, path: string): string | undefined {
    const series = (version: string) => {
        const [major, minor] = version.split('.');
        return major === '0' ? `0.${minor}` : major;
    };
    if (series(server) === series(extension)) return undefined;
    return `The server at ${path} is version ${server}; this extension is made for ${extension}. Install the same version of both.`;
}

function words(error: unknown): string {
    return error instanceof Error ? (error.message.split('\n')[0] ?? '') : String(error);
}
