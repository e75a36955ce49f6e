// In mode auto a change is in the text at once: its lines are tinted and one key takes it back. Model, mode and conversations are chosen
// from lists; the mode is another from then on.

import assert from 'node:assert/strict';

const BEFORE = 'def greet(name):\n    print("hello")\n';

export async function run(desk) {
    await desk.edit('greet.py', BEFORE, 1);
    await desk.running();
    await desk.ask('greet by name');
    await desk.until('the change', async () => (await desk.text('greet.py')).includes('{name}'));
    await desk.idle();
    await desk.until('what was published', async () => (await desk.head()).published.length === 1);
    await desk.page.locator('.codelens-decoration', { hasText: 'Undo this change' }).first().waitFor();
    await desk.picture('auto');
    await desk.page.locator('.codelens-decoration a', { hasText: 'Undo this change' }).first().click();
    await desk.until('the text as it was', async () => (await desk.text('greet.py')) === BEFORE);
    await desk.page.locator('.codelens-decoration', { hasText: 'Undo this change' }).first().waitFor({ state: 'detached' });
    await choose(desk, 'mode', 'plan');
    await desk.until('the mode', async () => (await desk.head()).mode === 'plan');
    await choose(desk, 'model', 'scripted');
    await desk.command('ropewalk.ui.new');
    await desk.until('another session', async () => (await desk.items()).length === 0);
    const chat = await desk.chat();
    await chat.locator('.welcome').waitFor();
    await chat.locator('#message:focus').waitFor();
    await choose(desk, 'sessions', 'greet');
    await desk.until('the conversation', async () => (await desk.items()).some(({ text }) => text === 'greet by name'));
    assert.deepEqual((await desk.items()).filter(({ kind }) => kind === 'notice').map(({ text }) => text).filter((text) => /sessions/.test(text)), []);
    assert.equal((await desk.head()).running, null);
}

/** Chooses a row of a quick pick by its words. */
async function choose(desk, list, words) {
    await desk.command(`ropewalk.ui.${list}`);
    const row = desk.page.locator('.quick-input-widget .monaco-list-row');
    await row.first().waitFor();
    const input = desk.page.locator('.quick-input-widget input[type=text]').first();
    await input.fill(words);
    await desk.until('one row', async () => (await row.count()) === 1);
    await input.press('Enter');
    await desk.page.locator('.quick-input-widget').waitFor({ state: 'hidden' });
}
