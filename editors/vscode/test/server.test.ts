// Where the server is looked for, and what is said where it is not.

import assert from 'node:assert/strict';
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { find, mismatch } from '../src/server.ts';

const home = mkdtempSync(join(tmpdir(), 'ropewalk-find-'));
after(() => rmSync(home, { recursive: true }));

/** A program that says this version. */
function program(folder: string, version: string): string {
    mkdirSync(join(home, folder), { recursive: true });
    const path = join(home, folder, 'ropewalk');
    writeFileSync(path, `#!/bin/sh\n${version ? `echo "ropewalk ${version}"` : 'exit 1'}\n`);
    chmodSync(path, 0o755);
    return path;
}

const places = (more: object) => ({ setting: '', extension: join(home, 'none'), path: '', version: '0.1.0', home, ...more });

test('the setting comes first, then the package, then the path', async () => {
    const set = program('set', '0.1.0');
    const bundled = program('extension/bin', '0.1.1');
    const onPath = program('path', '0.1.2');
    const all = { setting: '~/set/ropewalk', extension: join(home, 'extension'), path: `relative:${join(home, 'path')}` };
    assert.deepEqual(await find(places(all)), { path: set, version: '0.1.0' });
    assert.deepEqual(await find(places({ ...all, setting: '' })), { path: bundled, version: '0.1.1' });
    assert.deepEqual(await find(places({ path: all.path })), { path: onPath, version: '0.1.2' });
});

test('what is missing is said, with what mends it', async () => {
    const none = await find(places({}));
    assert.ok('problem' in none && none.mend === 'install');
    assert.match(none.problem, /not installed/);
    const wrong = await find(places({ setting: '/nowhere/ropewalk' }));
    assert.ok('problem' in wrong && wrong.mend === 'settings');
    assert.match(wrong.problem, /no program at \/nowhere\/ropewalk/);
    const broken = await find(places({ setting: program('broken', '') }));
    assert.ok('problem' in broken);
    assert.match(broken.problem, /can't be run/);
});

test('another series of versions is told, another patch is not', async () => {
    assert.equal(mismatch('0.1.7', '0.1.0', 'x'), undefined);
    assert.equal(mismatch('1.4.0', '1.2.0', 'x'), undefined);
    assert.match(mismatch('0.2.0', '0.1.0', '/bin/ropewalk') ?? '', /version 0\.2\.0.*made for 0\.1\.0/);
    const old = await find(places({ setting: program('old', '0.0.9') }));
    assert.ok('path' in old && old.warning);
});
