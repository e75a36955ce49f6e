// Review without a plugin: what waits is reached from the Problems panel and by `ropewalk.next`, a new file too, which is
// not there yet; a call that waits is asked about with short buttons, and stands as a problem until it is answered.
'use strict';

const assert = require('node:assert/strict');
const fs = require('node:fs');
const vscode = require('vscode');
const { disk, file, open, picture, runCases, start, waitFor, write } = require('./support');

exports.run = async () => {
    const { client, progress } = await start();
    const execute = async (command, argument) =>
        await client.sendRequest('workspace/executeCommand', {
            command: `ropewalk.${command}`,
            arguments: argument === undefined ? [] : [argument],
        });
    /** Our problems: `[uri, diagnostic]`. */
    const problems = () =>
        vscode.languages.getDiagnostics().flatMap(([uri, all]) =>
            all.filter(({ source }) => source === 'ropewalk').map((one) => [uri, one]));
    /** The words with which the turns ended. */
    const ends = () => progress.filter(({ kind }) => kind === 'end').map(({ message }) => message);
    const place = () => {
        const { document, selection } = vscode.window.activeTextEditor;
        return `${document.uri.path.split('/').at(-1)}:${selection.active.line + 1}`;
    };

    await runCases([
        ['every change can be opened where it is shown, a new file too', async () => {
            write('other.py', 'one\ntwo\nthree\n');
            const { document } = await open('greet.py', 'def greet(name):\n    print("hello")\n');
            await execute('prompt', { prompt: 'change it', textDocument: { uri: document.uri.toString() } });
            await waitFor('the end of the turn', () => ends().length === 1);
            const [end] = ends();
            assert.match(end, /^Done · .* · 3 changes in 3 files wait for review$/);
            await waitFor('three problems', () => problems().length === 3);
            for (const [uri] of problems()) await vscode.workspace.openTextDocument(uri);
            const created = problems().find(([, { message }]) => message.startsWith('Proposed new file new/test.py'));
            assert.equal(created[0].path, document.uri.path);
            await vscode.commands.executeCommand('workbench.actions.view.problems');
            await picture('problems');

            const seen = [];
            for (let count = 0; count < 4; count += 1) {
                const led = await execute('next');
                const wanted = `${led.uri.split('/').at(-1)}:${led.position.line + 1}`;
                await waitFor(wanted, () => place() === wanted);
                seen.push(`${led.file} at ${wanted}`);
            }
            assert.deepEqual(seen, [
                'greet.py at greet.py:2',
                'new/test.py at greet.py:1',
                'other.py at other.py:3',
                'greet.py at greet.py:2',
            ]);
            await picture('next');
            await execute('prompt', '/accept');
            await waitFor('the new file', () => fs.existsSync(file('new/test.py')));
            assert.equal(disk('new/test.py'), 'import greet\n');
            await waitFor('no problem', () => problems().length === 0);
            await vscode.commands.executeCommand('notifications.clearAll');
        }],
        ['a call that waits is a problem until the first button refuses it', async () => {
            await open('greet.py', 'one\n');
            await execute('prompt', 'run it');
            const asked = await waitFor('the question', () => problems()[0]);
            assert.equal(asked[1].severity, vscode.DiagnosticSeverity.Warning);
            assert.match(asked[1].message, /^Ropewalk asks to run bash: touch ran/);
            await vscode.commands.executeCommand('notifications.showList');
            await picture('question');
            const { start: at } = asked[1].range;
            const actions = await vscode.commands.executeCommand(
                'vscode.executeCodeActionProvider', asked[0], new vscode.Range(at, at));
            const titles = actions.map(({ title }) => title).filter((title) => title.startsWith('Ropewalk'));
            assert.deepEqual(titles, [
                'Ropewalk: allow once',
                'Ropewalk: allow this session',
                'Ropewalk: always allow',
                'Ropewalk: refuse',
            ]);
            // The first button of the one message that is there.
            await vscode.commands.executeCommand('notification.acceptPrimaryAction');
            await waitFor('no problem', () => problems().length === 0);
            await waitFor('the end of the turn', () => ends().length === 2);
            assert.match(ends()[1], /^Done/);
            assert.equal(fs.existsSync(file('ran')), false);
        }],
    ]);
};
