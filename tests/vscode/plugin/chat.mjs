// The chat by keyboard: words stream in, one joins the running turn, one waits and is taken back, the turn is stopped. What the
// model says can't leave its place, and axe finds nothing.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';

const require = createRequire(new URL('../../../editors/vscode/package.json', import.meta.url));

export async function run(desk) {
    await desk.edit('greet.py', 'def greet(name):\n    print("hello")\n');
    await desk.running();
    const chat = await desk.chat();
    await chat.locator('#message:focus').waitFor();
    await steerAndQueue(desk, chat);
    await stop(desk, chat);
    await draft(desk, chat);
    await hostile(desk, chat);
    await seen(desk, chat);
}

/** Fails when axe finds anything in the chat. */
export async function axe(desk, chat, where) {
    await chat.evaluate(readFileSync(require.resolve('axe-core/axe.min.js'), 'utf8'));
    const { violations } = await chat.evaluate(() => globalThis.axe.run(document, { resultTypes: ['violations'] }));
    const found = violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html, any }) => `${html.slice(0, 120)} ${any[0]?.message ?? ''}`).join('\n    ')}`);
    assert.deepEqual(found, [], where);
}

async function steerAndQueue(desk, chat) {
    const { keyboard } = desk.page;
    await keyboard.type('say much');
    await keyboard.press('Enter');
    await desk.gateReached('words');
    await chat.getByText('The first words').first().waitFor();
    await keyboard.type('be brief');
    await keyboard.press('Enter');
    await keyboard.type('and then this');
    await keyboard.press('Alt+Enter');
    await chat.getByText('Take back').waitFor();
    await keyboard.type('never mind');
    await keyboard.press('Alt+Enter');
    await desk.until('two that wait', async () => (await desk.head()).waiting.length === 2);
    await desk.picture('chat_running');
    await axe(desk, chat, 'while it runs');
    await keyboard.type('typed since');
    await chat.getByRole('button', { name: 'Take back' }).last().click();
    await desk.until('one that waits', async () => (await desk.head()).waiting.length === 1);
    // Words that were taken back stand in the box, before what was typed since, to be said another way.
    await desk.until('the words in the box', async () => (await chat.locator('#message').inputValue()) === 'never mind\ntyped since');
    await chat.locator('#message').fill('');
    desk.openGate('words');
    await chat.getByText('You, meanwhile').waitFor();
    await chat.getByText('Briefly then').first().waitFor();
    await chat.getByText('This too').first().waitFor();
    await desk.idle();
    const prompts = (await desk.items()).filter(({ kind }) => kind === 'prompt').map(({ text }) => text);
    assert.deepEqual(prompts, ['say much', 'be brief', 'and then this']);
}

async function stop(desk, chat) {
    const { keyboard } = desk.page;
    await chat.locator('#message').focus();
    await keyboard.type('think long');
    await keyboard.press('Enter');
    await desk.gateReached('long');
    await chat.getByRole('button', { name: 'Stop' }).waitFor();
    await keyboard.press('Escape');
    await chat.getByText('Stopped', { exact: false }).last().waitFor();
    await desk.idle();
    desk.openGate('long');
}

/** What is typed and not sent is there after the window was reloaded, with all that was said. */
async function draft(desk, chat) {
    await chat.locator('#message').focus();
    await desk.page.keyboard.type('half a thought');
    await desk.until('the draft', async () => (await chat.locator('#message').inputValue()) === 'half a thought');
    await desk.command('workbench.view.explorer');
    await desk.until('the chat to go', () => chat.isDetached());
    const again = await desk.chat();
    assert.equal(await again.locator('#message').inputValue(), 'half a thought');
    await again.getByText('The first words').first().waitFor();
    await again.locator('#message').fill('');
}

async function hostile(desk) {
    const asked = [];
    desk.page.on('requestfinished', (request) => asked.push(request.url()));
    const chat = await desk.chat();
    await chat.locator('#message').fill('be hostile');
    await chat.locator('#message').press('Enter');
    await chat.getByText('That was all').first().waitFor();
    await desk.idle();
    assert.equal(await chat.locator('.transcript script, .transcript img, .transcript svg, .transcript iframe, .transcript style').count(), 0);
    assert.equal(await chat.evaluate(() => globalThis.hostile), undefined);
    assert.deepEqual(asked.filter((url) => url.includes('evil')), []);
    await desk.picture('chat_hostile');
    await axe(desk, chat, 'after hostile words');
}

/** The chat as people see it: themes, and a narrow bar. */
async function seen(desk, chat) {
    for (const theme of ['Default Dark Modern', 'Default Light Modern', 'Default High Contrast', 'Default High Contrast Light']) {
        await desk.theme(theme);
        const again = await desk.chat();
        await axe(desk, again, theme);
        await desk.picture(`chat_${theme.replaceAll(' ', '_').toLowerCase()}`);
    }
}
