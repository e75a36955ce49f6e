// What the manifest promises: commands that exist, no name of the server's, no setting that a repository could make, no proposed API.

import assert from 'node:assert/strict';
import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';

const here = join(import.meta.dirname, '..');
const read = (name: string) => readFileSync(join(here, name), 'utf8');
const manifest = JSON.parse(read('package.json'));
const { contributes } = manifest;

test('every command of the manifest is registered, and every registered one is in it', () => {
    const source = read('src/commands.ts');
    const registered = [...source.matchAll(/^ {8}(\w+)(?:: |,$)/gm)].map(([, name]) => `ropewalk.ui.${name}`);
    const promised: string[] = contributes.commands.map(({ command }: { command: string }) => command);
    assert.deepEqual([...new Set(registered)].sort(), [...promised].sort());
    const used = [...contributes.keybindings, ...Object.values(contributes.menus).flat()] as { command: string }[];
    for (const { command } of used) assert.ok(command.startsWith('editor.') || promised.includes(command), command);
});

test('no command has the name of one of the server, which VS Code registers by itself', () => {
    const server = Object.keys(JSON.parse(readFileSync(join(here, '../protocol.json'), 'utf8')).properties.commands.properties);
    assert.ok(server.length > 10);
    for (const { command } of contributes.commands) assert.ok(!server.includes(command) && command.startsWith('ropewalk.ui.'), command);
});

test('settings that the server gets are those of the machine alone', () => {
    const client = read('src/client.ts');
    const sent = /for \(const name of \[([^\]]*)\]\)/.exec(client)?.[1]?.match(/\w+/g) ?? [];
    assert.ok(sent.length > 0);
    for (const name of [...sent, 'server.path']) assert.equal(contributes.configuration.properties[`ropewalk.${name}`].scope, 'machine', name);
});

test('no proposed API is used', () => {
    assert.equal(manifest.enabledApiProposals, undefined);
    const sources = readdirSync(join(here, 'src'), { recursive: true, encoding: 'utf8' }).filter((name) => /\.tsx?$/.test(name));
    assert.ok(sources.length > 20);
    assert.deepEqual(sources.filter((name) => /vscode\.proposed/.test(read(join('src', name)))), []);
    // The typings are those of the oldest VS Code that is supported, so the compiler finds what came later.
    assert.equal(`^${manifest.devDependencies['@types/vscode']}`, manifest.engines.vscode);
});

test('it does not start in folders that are not trusted, and says why', () => {
    assert.equal(manifest.capabilities.untrustedWorkspaces.supported, false);
    assert.match(manifest.capabilities.untrustedWorkspaces.description, /trust/);
});
