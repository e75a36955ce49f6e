// The chat with a plan, changes and a call that waits, and a change's thread: in every theme, and the chat in a narrow bar too.
// Nothing runs out of the bar, no words are cut without a sign of it, and axe finds nothing.

import assert from 'node:assert/strict';
import { axe } from './chat.mjs';

const THEMES = ['Default Dark Modern', 'Default Light Modern', 'Default High Contrast', 'Default High Contrast Light'];

/** Side bars as wide and as narrow as people make them, in pixels. */
const WIDE = 480;
const NARROW = 300;

export async function run(desk) {
    desk.write('a/long/way/down/other.py', 'one\n');
    await desk.edit('greet.py', 'def greet(name):\n    print("hello")\n');
    await desk.running();
    const chat = await desk.chat();
    await chat.locator('#message:focus').waitFor();
    await desk.page.keyboard.type('Greet by name, and say so in the other file too');
    await desk.page.keyboard.press('Enter');
    await chat.locator('.buttons button').first().waitFor();
    await desk.hunks(2);
    await desk.widen(WIDE);
    for (const theme of THEMES) await look(desk, chat, theme, 'wide');
    await desk.widen(NARROW);
    for (const theme of THEMES) await look(desk, chat, theme, 'narrow');
    await chat.getByRole('button', { name: 'Once' }).click();
    await desk.idle();
    await desk.edit('greet.py');
    await desk.keys('n');
    await desk.page.locator('.review-widget').first().waitFor();
    for (const theme of THEMES) {
        await desk.theme(theme);
        await shown(desk, theme);
        await desk.picture(`review_${name(theme)}`);
    }
    await look(desk, chat, THEMES[0], 'narrow_done');
}

function name(theme) {
    return theme.replace('Default ', '').replaceAll(' ', '_').toLowerCase();
}

/** Waits until the window has a theme's colours. */
async function shown(desk, theme) {
    const kind = { Dark: 'vs-dark', Light: 'vs' }[theme.split(' ')[1]] ?? (theme.endsWith('Light') ? 'hc-light' : 'hc-black');
    await desk.page.locator(`.monaco-workbench.${kind}`).waitFor();
}

async function look(desk, chat, theme, how) {
    await desk.theme(theme);
    await shown(desk, theme);
    await desk.picture(`looks_${how}_${name(theme)}`);
    await axe(desk, chat, `${theme}, ${how}`);
    assert.deepEqual(await chat.evaluate(cut), [], `${theme}, ${how}`);
    // The last words stay in sight, and what an answer allows.
    await desk.until(`the end of the conversation, ${how}`, () =>
        chat.locator('.transcript').evaluate((one) => one.scrollHeight - one.scrollTop - one.clientHeight < 24));
    for (const words of await chat.locator('.rule').all()) assert.ok(await words.evaluate(isSeen), `${theme}, ${how}`);
}

/** True if a part of the page is what is seen where it stands. */
function isSeen(one) {
    const { left, top, width, height } = one.getBoundingClientRect();
    return document.elementFromPoint(left + width / 2, top + height / 2) === one;
}

/** Parts of the page that run out of it, or whose words are cut without a sign of it. */
export function cut() {
    const found = [];
    for (const one of document.querySelectorAll('body *')) {
        const { left, right, width } = one.getBoundingClientRect();
        const style = getComputedStyle(one);
        if (width === 0 || style.position === 'absolute' && width <= 1) continue;
        const isScrolled = (node) => node && (/auto|scroll|hidden/.test(getComputedStyle(node).overflowX) || isScrolled(node.parentElement));
        if ((right > innerWidth + 1 || left < -1) && !isScrolled(one.parentElement)) found.push(`out of the page: ${one.outerHTML.slice(0, 120)}`);
        const isCut = one.scrollWidth > one.clientWidth + 1 && /hidden|clip/.test(style.overflowX);
        if (isCut && style.textOverflow !== 'ellipsis' && one.textContent.trim()) found.push(`cut: ${one.outerHTML.slice(0, 120)}`);
    }
    return found;
}
