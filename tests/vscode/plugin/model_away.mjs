// A server of another version is told of at the start. A model that can't be reached ends the turn with words that say so.

import assert from 'node:assert/strict';

export async function run(desk) {
    await desk.edit('a.txt', 'one\n');
    await desk.running();
    await desk.notification('is version 0.0.9; this extension is made for');
    const chat = await desk.chat();
    await chat.locator('#message:focus').waitFor();
    await chat.locator('#message').fill('go');
    await chat.locator('#message').press('Enter');
    const end = await desk.until('the end', async () => (await desk.items()).find(({ kind }) => kind === 'end'));
    assert.equal(end.reason, 'error');
    assert.match(end.text, /^It failed: .*(reach|running)/);
    await chat.getByText(end.text).first().waitFor();
    await desk.picture('model_away');
}
