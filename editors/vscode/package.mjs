// Makes the .vsix: with the server inside for the platform it is built for, or without it for every platform.
//
//   node package.mjs [--server PROGRAM] [--target linux-x64] [--out FILE]

import { execFileSync } from 'node:child_process';
import { chmodSync, copyFileSync, mkdirSync, rmSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { parseArgs } from 'node:util';

const here = import.meta.dirname;
const { values: given } = parseArgs({
    options: { server: { type: 'string' }, target: { type: 'string' }, out: { type: 'string' } },
});
const target = given.server ? (given.target ?? `${process.platform}-${process.arch}`) : undefined;
const out = resolve(given.out ?? join(here, `ropewalk${target ? `-${target}` : ''}.vsix`));
const bin = join(here, 'bin');
// vsce takes the licence from the extension's own folder alone.
const license = join(here, 'LICENSE');

rmSync(bin, { recursive: true, force: true });
rmSync(join(here, 'dist'), { recursive: true, force: true });
execFileSync(process.execPath, [join(here, 'build.mjs')], { stdio: 'inherit' });
try {
    copyFileSync(join(here, '../../LICENSE'), license);
    if (given.server) {
        const program = join(bin, target.startsWith('win32') ? 'ropewalk.exe' : 'ropewalk');
        mkdirSync(dirname(program));
        copyFileSync(given.server, program);
        chmodSync(program, 0o755);
    }
    mkdirSync(dirname(out), { recursive: true });
    const vsce = join(here, 'node_modules/@vscode/vsce/vsce');
    const options = ['package', '--no-dependencies', '--allow-missing-repository', '--no-rewrite-relative-links', '--out', out];
    if (target) options.push('--target', target);
    execFileSync(process.execPath, [vsce, ...options], { cwd: here, stdio: ['ignore', 'ignore', 'inherit'] });
    console.log(basename(out));
} finally {
    rmSync(bin, { recursive: true, force: true });
    rmSync(license, { force: true });
}
