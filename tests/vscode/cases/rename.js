// An accepted rename of an open file: the tab and its text follow, and come back when it is undone.
'use strict';

const assert = require('node:assert/strict');
const fs = require('node:fs');
const vscode = require('vscode');
const { disk, file, open, runCases, start, waitFor } = require('./support');

const BEFORE = 'one\ntwo\nthree\n';
const AFTER = 'one\ntwo\nTHREE\n';

/** The document in the active editor, once it is of this file. */
const shown = async (name) =>
    await waitFor(`the tab of ${name}`, () => {
        const document = vscode.window.activeTextEditor?.document;
        return document?.uri.fsPath === file(name) && document;
    });

exports.run = async () => {
    const { client, progress } = await start();
    const run = (command, argument) =>
        client.sendRequest('workspace/executeCommand', { command, arguments: [argument] });
    await runCases([
        ['the buffer follows a rename, and comes back', async () => {
            const closed = [];
            const opened = [];
            const heard = [
                vscode.workspace.onDidCloseTextDocument(({ uri }) => closed.push(uri.fsPath)),
                vscode.workspace.onDidOpenTextDocument(({ uri }) => opened.push(uri.fsPath)),
            ];
            await open('old.txt', BEFORE);
            await run('ropewalk.prompt', { prompt: 'move it' });
            await waitFor('the end of the turn', () => progress.some(({ kind }) => kind === 'end'));
            assert.equal(disk('old.txt'), BEFORE);

            await run('ropewalk.accept', { all: true });
            const moved = await shown('new/name.txt');
            await waitFor('the change of the text', () => moved.getText() === AFTER);
            assert.ok(closed.includes(file('old.txt')), 'the old name was closed');
            assert.ok(opened.includes(file('new/name.txt')), 'the new name was opened');
            assert.equal(fs.existsSync(file('old.txt')), false);
            assert.equal(disk('new/name.txt'), BEFORE);
            assert.equal(moved.isDirty, true);

            await run('ropewalk.undo', { all: true });
            const back = await shown('old.txt');
            assert.equal(back.getText(), BEFORE);
            await waitFor('the new name to go', () => !fs.existsSync(file('new/name.txt')));
            assert.equal(disk('old.txt'), BEFORE);
            heard.forEach((one) => one.dispose());
        }],
        ['what was never saved is edited under its URI', async () => {
            const document = await vscode.workspace.openTextDocument({ content: 'draft\n' });
            await vscode.window.showTextDocument(document);
            progress.length = 0;
            await run('ropewalk.prompt', { prompt: `finish ${document.uri}` });
            await waitFor('the end of the turn', () => progress.some(({ kind }) => kind === 'end'));
            await run('ropewalk.accept', { uri: document.uri.toString() });
            await waitFor('the edit', () => document.getText() === 'final\n');
            assert.equal(document.isUntitled, true);
        }],
    ]);
};
