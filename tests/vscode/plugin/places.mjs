// Changes in odd places: on line 1, at the end of a file without a line end, in a file in two editors, in one that isn't open (it is
// written to the disk, and undo takes it back), in text without a file. Typing into a change keeps the user's text.

import assert from 'node:assert/strict';

export async function run(desk) {
    desk.write('closed.txt', 'alpha\nbeta\n');
    await desk.edit('a.txt', 'one\ntwo\nthree');
    await desk.running();
    await desk.host.run((vscode) => vscode.commands.executeCommand('workbench.action.splitEditor'));
    await desk.ask('change the edges');
    const hunks = await desk.hunks(3);
    await desk.idle();
    await desk.picture('places');
    for (const { id } of hunks) await desk.command('ropewalk.ui.accept', id);
    await desk.hunks(0);
    await desk.until('the text', async () => (await desk.text('a.txt')) === 'zero\none\ntwo\nTHREE');
    await desk.until('the disk', () => desk.disk('closed.txt') === 'alpha\nBETA\n');
    await desk.host.run((vscode) => vscode.commands.executeCommand('ropewalk.ui.undoTurn', 1));
    await desk.until('the text as it was', async () => (await desk.text('a.txt')) === 'one\ntwo\nthree');
    await desk.until('the disk as it was', () => desk.disk('closed.txt') === 'alpha\nbeta\n');
    await untitled(desk);
    await displaced(desk);
}

async function untitled(desk) {
    await desk.host.run(async (vscode) => {
        const document = await vscode.workspace.openTextDocument({ content: 'draft\n' });
        await vscode.window.showTextDocument(document, { preview: false });
    });
    await desk.page.locator('.monaco-editor.focused').first().waitFor();
    await desk.ask('finish it');
    await desk.hunks(1);
    await desk.idle();
    await desk.keys('y');
    await desk.until('the text', () => desk.host.run((vscode) => vscode.window.activeTextEditor?.document.getText() === 'final\n'));
}

/** The user types into a proposed change: theirs stays, both can be read, and it can be asked for again. */
async function displaced(desk) {
    await desk.edit('b.txt', 'first\nsecond word\n', 1);
    await desk.ask('shout');
    await desk.hunks(1);
    await desk.idle();
    await desk.page.locator('.review-widget').first().waitFor({ state: 'hidden' });
    await desk.cursor(1, 'second'.length);
    await desk.page.keyboard.type(' thoughts');
    await desk.hunks(0);
    let now;
    await desk.until('nine keys', async () => (now = await desk.text('b.txt')).length === 'first\nsecond thoughts word\n'.length);
    assert.equal(now, 'first\nsecond thoughts word\n');
    const chat = await desk.chat();
    await chat.getByRole('button', { name: 'Show both' }).click();
    await desk.until('both texts', () => desk.host.run((vscode) =>
        vscode.workspace.textDocuments.filter(({ uri }) => uri.scheme === 'ropewalk-text').map((one) => one.getText()).join('|').includes('SECOND')));
    await desk.picture('displaced');
    await chat.getByRole('button', { name: 'Ask again' }).click();
    await desk.hunks(1);
    await desk.idle();
    assert.ok((await desk.head()).hunks[0].new.includes('SECOND THOUGHTS'));
}
