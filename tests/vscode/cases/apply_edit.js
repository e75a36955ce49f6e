// What real VS Code does with each kind of `workspace/applyEdit`, one case for each row of the table
// of client habits. Observations through a probe; our own server isn't involved.
'use strict';

const assert = require('node:assert/strict');
const fs = require('node:fs');
const vscode = require('vscode');
const { disk, file, open, runCases, say, start, type, waitFor, write } = require('./support');

exports.run = async () => {
    const { client } = await start();
    const apply = (changes, more = {}) =>
        client.sendRequest('probe/applyEdit', { documentChanges: changes, ...more });
    const uriOf = (name) => client.code2ProtocolConverter.asUri(vscode.Uri.file(file(name)));
    const edits = (name, version, ...all) => ({
        textDocument: { uri: uriOf(name), version },
        edits: all.map(([line, from, to, newText]) => ({
            range: { start: { line, character: from }, end: { line, character: to } },
            newText,
        })),
    });
    const told = async () => await client.sendRequest('probe/log');

    await runCases([
        ['it names itself and offers document changes and resource operations', async () => {
            const hello = await client.sendRequest('probe/initialize');
            say(JSON.stringify(hello.clientInfo));
            const { workspaceEdit } = hello.capabilities.workspace;
            assert.equal(workspaceEdit.documentChanges, true);
            assert.deepEqual(workspaceEdit.resourceOperations, ['create', 'rename', 'delete']);
            assert.equal(workspaceEdit.failureHandling, 'textOnlyTransactional');
            assert.deepEqual(hello.capabilities.general.positionEncodings, ['utf-16']);
        }],
        ['an edit of unsaved text lands beside it, and the disk stays', async () => {
            const { document } = await open('a.txt', 'one\n');
            await type('mine ');
            await apply([edits('a.txt', document.version, [0, 5, 8, 'ONE'])]);
            assert.equal(document.getText(), 'mine ONE\n');
            assert.equal(document.isDirty, true);
            assert.equal(disk('a.txt'), 'one\n');
        }],
        ['the answer comes before the echo', async () => {
            const { document } = await open('echo.txt', 'one\n');
            await apply([edits('echo.txt', document.version, [0, 0, 3, 'ONE'])]);
            const about = ({ method, params }) =>
                method === 'textDocument/didChange' && params.textDocument.uri === uriOf('echo.txt');
            const log = await waitFor('the echo', async () => {
                const log = await told();
                return log.some(about) && log;
            });
            const answer = log.findLastIndex(({ method }) => method === 'result');
            assert.ok(answer < log.findIndex(about));
        }],
        ['a stale edit is refused, in every file', async () => {
            const { document } = await open('a.txt', 'one\n');
            const { version } = document;
            const other = await vscode.workspace.openTextDocument(write('b.txt', 'two\n'));
            await vscode.window.showTextDocument(document);
            await type('mine ');
            const result = await apply([
                edits('b.txt', other.version, [0, 0, 3, 'TWO']),
                edits('a.txt', version, [0, 0, 3, 'ONE']),
            ]);
            assert.equal(result.applied, false);
            assert.equal(document.getText(), 'mine one\n');
            assert.equal(other.getText(), 'two\n');
        }],
        ['an edit without a version is applied', async () => {
            const { document } = await open('a.txt', 'one\n');
            await type('mine ');
            const result = await apply([edits('a.txt', null, [0, 5, 8, 'ONE'])]);
            assert.equal(result.applied, true);
            assert.equal(document.getText(), 'mine ONE\n');
        }],
        ['a request for confirmation waits for the user, and a part left off is still applied', async () => {
            const { document } = await open('a.txt', 'one two\n');
            const ask = edits('a.txt', document.version, [0, 0, 3, 'ONE'], [0, 4, 7, 'TWO']);
            ask.edits[1].annotationId = 'ask';
            const changeAnnotations = { ask: { label: 'Ask first', needsConfirmation: true } };
            let answer;
            apply([ask], { changeAnnotations }).then((result) => (answer = result));
            await told();
            assert.equal(answer, undefined);
            // The preview shows the second edit unticked; here it is accepted as it is.
            await waitFor('the answer', async () => {
                await vscode.commands.executeCommand('refactorPreview.apply');
                return answer;
            });
            say(`${JSON.stringify(answer)} ${document.getText()}`);
            assert.equal(document.getText(), 'ONE two\n');
            assert.equal(answer.applied, true);
        }],
        ['a file that is not open becomes a dirty tab, and the disk stays', async () => {
            const uri = write('closed.txt', 'one\n');
            const result = await apply([edits('closed.txt', null, [0, 0, 3, 'ONE'])]);
            assert.equal(result.applied, true);
            const tab = await waitFor('the tab', () =>
                vscode.window.tabGroups.all
                    .flatMap((group) => group.tabs)
                    .find((tab) => tab.input?.uri?.fsPath === uri.fsPath));
            await waitFor('the mark of unsaved text', () => tab.isDirty);
            assert.equal(disk('closed.txt'), 'one\n');
            await vscode.window.showTextDocument(uri);
        }],
        ['creating a file that exists is refused', async () => {
            write('there.txt', 'one\n');
            const result = await apply([{ kind: 'create', uri: uriOf('there.txt') }]);
            assert.equal(result.applied, false);
            assert.equal(disk('there.txt'), 'one\n');
        }],
        ['creating with ignoreIfExists creates the file', async () => {
            const options = { ignoreIfExists: true };
            const result = await apply([{ kind: 'create', uri: uriOf('new.txt'), options }]);
            assert.equal(result.applied, true);
            assert.equal(disk('new.txt'), '');
        }],
        ['renaming an open, modified file keeps its text unsaved', async () => {
            await open('from.txt', 'one\n');
            await type('mine ');
            const result = await apply([
                { kind: 'rename', oldUri: uriOf('from.txt'), newUri: uriOf('to.txt') },
            ]);
            assert.equal(result.applied, true);
            assert.equal(fs.existsSync(file('from.txt')), false);
            const document = await vscode.workspace.openTextDocument(file('to.txt'));
            assert.equal(document.getText(), 'mine one\n');
            assert.equal(document.isDirty, true);
            assert.equal(disk('to.txt'), 'one\n');
        }],
        ['an edit before a failing delete stays', async () => {
            const { document } = await open('a.txt', 'one\n');
            const result = await apply([
                edits('a.txt', document.version, [0, 0, 3, 'ONE']),
                { kind: 'delete', uri: uriOf('missing.txt') },
            ]);
            assert.equal(result.applied, false);
            assert.equal(document.getText(), 'ONE\n');
        }],
        ['a command of the server is registered for everybody', async () => {
            assert.equal(await vscode.commands.executeCommand('probe.hello'), 'probe.hello done');
            assert.throws(() => vscode.commands.registerCommand('probe.hello', () => {}));
        }],
    ]);
};
