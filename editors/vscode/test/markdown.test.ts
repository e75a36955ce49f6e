// The model's words as blocks: what is finished stays, nothing of it becomes a page of its own.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Blocks, parser } from '../src/webview/blocks.ts';

const plain = parser(() => undefined);
const coloured = parser((code) => `<b>${code.length}</b>`);
const html = (text: string) => new Blocks(plain, coloured).update(text, true).map((block) => block.html).join('');

test('finished blocks are the same objects as text goes on', () => {
    const blocks = new Blocks(plain, coloured);
    const [first] = blocks.update('# Title\n\nSome wor', false);
    const later = blocks.update('# Title\n\nSome words\n\n- one\n- two', false);
    assert.equal(later[0], first);
    assert.deepEqual(later.map(({ start }) => start), [0, 9, 21]);
    assert.match(blocks.update('# Title\n\nSome words\n\n- one\n- two\n', true).at(-1)?.html ?? '', /<li>two<\/li>/);
});

test('a long answer in small pieces is parsed about once', () => {
    const blocks = new Blocks(plain, coloured);
    const paragraph = 'Words of an answer that goes on for a while, and ends.\n\n';
    const text = paragraph.repeat(2000);
    for (let end = 0; end <= text.length; end += 11) blocks.update(text.slice(0, end), false);
    const drawn = blocks.update(text, true);
    assert.equal(drawn.length, 2000);
    assert.ok(blocks.parsed < 20 * text.length, `${blocks.parsed} of ${text.length}`);
});

test('a fence is coloured once it is closed', () => {
    const blocks = new Blocks(plain, coloured);
    assert.match(blocks.update('```js\nlet a', false).at(-1)?.html ?? '', /let a/);
    assert.match(blocks.update('```js\nlet a\n```\n\nso', false)[0]?.html ?? '', /<b>6<\/b>/);
});

test('text that begins anew is drawn anew', () => {
    const blocks = new Blocks(plain, coloured);
    blocks.update('one\n\ntwo\n\nthree', false);
    assert.equal(blocks.update('other', true).length, 1);
});

test('nothing of hostile text becomes an element that fetches or runs', () => {
    const hostile = [
        '<script>alert(1)</script>',
        '<img src=x onerror=alert(1)>',
        '![pixel](https://evil.example/pixel.png)',
        '[![nested](https://evil.example/a.png)](https://evil.example)',
        '[run](javascript:alert(1)) [data](data:text/html,x) [command](command:workbench.action.quit) [file](file:///etc/passwd)',
        '[vs](vscode://file/etc) <svg/onload=alert(1)> <style>*{display:none}</style>',
        '<iframe src="https://evil.example"></iframe>',
        '```"><script>alert(1)</script>\n</code></pre><script>alert(2)</script>\n```',
    ].join('\n\n');
    const drawn = html(hostile);
    assert.doesNotMatch(drawn, /<(script|img|svg|style|iframe|object|link|base|form)\b/i);
    assert.doesNotMatch(drawn, /href="(?!https:\/\/evil)/i);
    assert.doesNotMatch(drawn, /<[^>]+\son\w+=/i);
});

test('headings of an answer are below those of the page, tables can be scrolled', () => {
    assert.match(html('# Big'), /role="heading" aria-level="3"/);
    assert.match(html('| a |\n|---|\n| b |\n'), /class="table" tabindex="0"/);
});
