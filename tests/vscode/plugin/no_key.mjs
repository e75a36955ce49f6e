// Without any key the turn ends with words that say what is missing, and how to give it.

import assert from 'node:assert/strict';

export async function run(desk) {
    await desk.edit('a.txt', 'one\n');
    await desk.running();
    const chat = await desk.chat();
    await chat.locator('#message').fill('go');
    await chat.locator('#message').press('Enter');
    const end = await desk.until('the end', async () => (await desk.items()).find(({ kind }) => kind === 'end'));
    assert.equal(end.reason, 'error');
    assert.match(end.text, /^It failed: .*MISTRAL_API_KEY/);
    await chat.getByText(end.text).first().waitFor();
    await desk.picture('no_key');
    await chat.getByRole('button', { name: 'Set API Key…' }).click();
    await desk.page.locator('.quick-input-widget .monaco-list-row', { hasText: 'Mistral' }).waitFor();
}
