// 5,000 changes in one file, a change inside a fold, in a file that is read only, in one whose name and new lines look like hostile
// Markdown; and a file too large for extensions.

import assert from 'node:assert/strict';

export async function run(desk) {
    await desk.edit('many.txt', undefined, 0);
    await desk.running();
    await many(desk);
    await fold(desk);
    await readOnly(desk);
    await hostile(desk);
    await huge(desk);
}

async function many(desk) {
    await desk.ask('change every other line');
    await desk.hunks(5000);
    await desk.idle();
    await desk.cursor(0);
    const began = Date.now();
    await desk.page.keyboard.type('typed ');
    await desk.until('the keys', async () => (await desk.text('many.txt')).startsWith('typed line 0\n'));
    desk.say(`six keys beside 5,000 changes took ${Date.now() - began} ms`);
    await desk.page.locator('.statusbar-item', { hasText: '5000 changes' }).waitFor();
    await desk.picture('many');
    await desk.cursor(1);
    await desk.keys('y');
    await desk.until('the accepted line', async () => (await desk.text('many.txt')).startsWith('typed line 0\nother 1\nline 2\nline 3\n'));
    await desk.hunks(4999);
    await desk.command('ropewalk.ui.rejectFile');
    await desk.hunks(0);
}

async function fold(desk) {
    await desk.edit('folded.py', 'def one():\n    return 1\n\n\ndef two():\n    a = 0\n    return 2\n\n\nprint(two())\n', 9);
    await desk.host.run((vscode) => vscode.commands.executeCommand('editor.foldAll'));
    const line = (words) => desk.page.locator('.monaco-editor .view-line', { hasText: words });
    await line('return 2').waitFor({ state: 'detached' });
    await desk.ask('in words');
    await desk.hunks(1);
    await desk.idle();
    await desk.picture('fold_closed');
    await desk.keys('n');
    await line('return 2').waitFor();
    await desk.page.locator('.review-widget').first().waitFor();
    await desk.picture('fold_opened');
    await desk.keys('y');
    await line('return two').waitFor();
    await desk.hunks(0);
    assert.equal(await line('return 1').count(), 0, 'the other fold stays as it is');
}

async function readOnly(desk) {
    await desk.host.run((vscode) => vscode.workspace.getConfiguration('files').update(
        'readonlyInclude', { '**/kept.txt': true }, vscode.ConfigurationTarget.Global));
    await desk.edit('kept.txt', 'as it is\n');
    await desk.ask('another tense');
    const [{ id }] = await desk.hunks(1);
    await desk.idle();
    await desk.command('ropewalk.ui.accept', id);
    await desk.hunks(0);
    await desk.until('the accepted text', async () => (await desk.text('kept.txt')) === 'as it was\n');
    assert.equal(desk.disk('kept.txt'), 'as it is\n', 'the disk is the user\'s to write');
}

async function hostile(desk) {
    const asked = [];
    desk.page.on('request', (request) => asked.push(request.url()));
    const name = '![x](evil).md';
    await desk.edit(name, 'calm\n');
    await desk.ask('be hostile');
    const [hunk] = await desk.hunks(1);
    await desk.idle();
    await desk.keys('n');
    const thread = desk.page.locator('.review-widget').first();
    await thread.getByText('evil.example/c.png', { exact: false }).first().waitFor();
    await desk.command('ropewalk.changes.focus');
    await desk.page.locator('.pane-body .monaco-list-row', { hasText: name }).first().waitFor();
    const chat = await desk.chat();
    await chat.getByText(name, { exact: false }).first().waitFor();
    await desk.picture('hostile_change');
    assert.equal(await thread.locator('img').count(), 0);
    assert.equal(await chat.locator('.transcript img').count(), 0);
    await desk.command('ropewalk.ui.accept', hunk.id);
    await desk.until('the lines as they are', async () => (await desk.text(name)) === `${hunk.new}`);
    assert.deepEqual(asked.filter((url) => url.includes('evil.example')), []);
}

/** VS Code shows extensions no such file: it can be asked about nothing in it, and asking works all the same. */
async function huge(desk) {
    desk.write('huge.txt', 'x'.repeat(99).concat('\n').repeat(520_000));
    await desk.host.run((vscode, path) => void vscode.commands.executeCommand('vscode.open', vscode.Uri.file(path)), desk.path('huge.txt'));
    await desk.page.locator('.tab.active', { hasText: 'huge.txt' }).waitFor();
    await desk.until('no file that extensions see', () => desk.host.run((vscode) => vscode.window.activeTextEditor === undefined));
    await desk.keys('a');
    await desk.page.locator('.quick-input-widget input[type=text]').first().waitFor();
    await desk.page.keyboard.type('what now');
    await desk.page.locator('.quick-input-widget .monaco-list-row', { hasText: 'Ask this' }).waitFor();
    await desk.page.keyboard.press('Enter');
    await desk.until('the answer', async () => (await desk.items()).some(({ text }) => text === 'About no file.'));
    await desk.idle();
}
