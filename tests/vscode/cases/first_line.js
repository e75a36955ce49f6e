// The user types without saving and asks for a change; the agent changes the same unsaved text.
'use strict';

const assert = require('node:assert/strict');
const { disk, open, runCases, start, type, waitFor } = require('./support');

exports.run = async () => {
    const { client, progress } = await start();
    await runCases([
        ['a prompt changes unsaved text and leaves the disk', async () => {
            const before = 'def greet(name):\n    print("hello")\n';
            const { document } = await open('greet.py', before);
            await type('# typed, not saved\n');

            const answer = await client.sendRequest('workspace/executeCommand', {
                command: 'ropewalk.prompt',
                arguments: [{ prompt: 'greet the user by name' }],
            });
            assert.ok(answer.session, 'the answer names the session');
            assert.ok(answer.turn !== undefined, 'the answer names the turn');

            const after = '# typed, not saved\ndef greet(name):\n    print(f"hello {name}")\n';
            await waitFor('the edit beside the typed line', () => document.getText() === after);
            await waitFor('the end of the turn', () => progress.some(({ kind }) => kind === 'end'));
            assert.equal(progress[0].kind, 'begin');
            const reports = progress.filter(({ kind }) => kind === 'report');
            assert.ok(reports.some(({ message }) => message?.includes('edit_file greet.py')));
            assert.equal(document.isDirty, true);
            assert.equal(disk('greet.py'), before);
        }],
    ]);
};
