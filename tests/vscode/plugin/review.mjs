// Changes in two files, a new and a deleted one: gone through by keyboard alone. One is accepted, one rejected with a reason that the
// model reads, one edited first.

import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';

const GREET = 'def greet(name):\n    print("hello")\n';
const OTHER = 'one\ntwo\nthree\nfour\nfive\n';

export async function run(desk) {
    desk.write('other.py', OTHER);
    desk.write('old.txt', 'gone\n');
    await desk.edit('greet.py', GREET, 0);
    await desk.running();
    await desk.ask('change all of it');
    const hunks = await desk.hunks(5);
    await desk.idle();
    assert.deepEqual(hunks.map(({ kind }) => kind).sort(), ['create', 'delete', 'text', 'text', 'text']);
    await desk.page.locator('.codelens-decoration').first().waitFor();
    await tree(desk);
    await accept(desk);
    await reject(desk);
    await edit(desk);
    await files(desk);
}

/** The id of the change whose thread is open. */
async function shown(desk) {
    return await desk.host.run((vscode) => vscode.extensions.getExtension('ropewalk.ropewalk').exports.thread.current?.id ?? null);
}

/** Goes on with the keys until the thread of this change is open. */
async function goTo(desk, isMeant) {
    const { hunks } = await desk.head();
    const wanted = hunks.find(isMeant);
    for (const _ of hunks) {
        const before = await shown(desk);
        if (before === wanted.id) break;
        await desk.keys('n');
        await desk.until('the next change', async () => ![before, null].includes(await shown(desk)));
    }
    assert.equal(await shown(desk), wanted.id);
    return wanted;
}

async function tree(desk) {
    await desk.command('ropewalk.changes.focus');
    await desk.page.locator('.pane-body .monaco-list-row').nth(4).waitFor();
    await desk.picture('review_tree');
    await desk.edit('greet.py');
}

async function accept(desk) {
    await goTo(desk, ({ file, kind }) => file === 'greet.py' && kind === 'text');
    await desk.picture('review_thread');
    await desk.keys('y');
    await desk.until('the accepted text', async () => (await desk.text('greet.py')).includes('hello {name}'));
    await desk.hunks(4);
    assert.equal(desk.disk('greet.py'), GREET);
}

async function reject(desk) {
    await goTo(desk, (hunk) => hunk.new === 'ONE\n');
    await desk.keys('x');
    await desk.page.locator('.quick-input-widget input').first().waitFor();
    await desk.page.keyboard.type('too loud');
    await desk.page.keyboard.press('Enter');
    await desk.hunks(3);
    assert.equal(await desk.text('other.py'), OTHER);
}

async function edit(desk) {
    const hunk = await goTo(desk, (one) => one.new?.startsWith('FIVE'));
    await desk.keys('e');
    await desk.until('the proposed text', () => desk.host.run((vscode) =>
        vscode.window.activeTextEditor?.document.uri.scheme === 'ropewalk' && vscode.window.activeTextEditor.document.getText().includes('FIVE')));
    await desk.picture('review_diff');
    const { page } = desk;
    await page.keyboard.press('Control+End');
    await page.keyboard.press('ArrowUp');
    await page.keyboard.press('End');
    await page.keyboard.type(' and seven');
    await page.keyboard.press('Control+S');
    await desk.until('the edited change', async () =>
        (await desk.head()).hunks.some(({ id, new: text }) => id === hunk.id && text === 'FIVE\nsix and seven\n'));
    await desk.keys('y');
    await desk.until('the edited text', async () => (await desk.text('other.py')) === OTHER.replace('five', 'FIVE\nsix and seven'));
    await desk.hunks(2);
}

async function files(desk) {
    await goTo(desk, ({ kind }) => kind === 'create');
    await desk.picture('review_new_file');
    await desk.keys('y');
    await desk.until('the new file', () => existsSync(desk.path('new/test.py')));
    await desk.hunks(1);
    assert.equal(desk.disk('new/test.py'), 'import greet\n');
    await goTo(desk, ({ kind }) => kind === 'delete');
    await desk.keys('y');
    await desk.until('the file to go', () => !existsSync(desk.path('old.txt')));
    await desk.hunks(0);
    await desk.edit('greet.py');
    await desk.ask('why not?');
    await desk.until('the answer', async () => (await desk.items()).some(({ text }) => text === 'I have read why.'));
    await desk.idle();
}
