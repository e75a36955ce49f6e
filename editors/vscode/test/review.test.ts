// Places that move with typing, the user's own lines read out of an edited proposal, and fences that can't be left.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { editedTexts, regions } from '../src/review/edited.ts';
import { fenced } from '../src/review/fence.ts';
import { movedBy } from '../src/review/marks.ts';

/** A change from (line, character) to (line, character). */
const change = (from: [number, number], to: [number, number], text: string) => ({
    range: { start: { line: from[0], character: from[1] }, end: { line: to[0], character: to[1] } },
    text,
});

test('marks move with typing above them and stay with typing below', () => {
    const mark = { line: 3, lines: 2 };
    assert.deepEqual(movedBy(mark, [change([0, 0], [0, 0], 'x')]), mark);
    assert.deepEqual(movedBy(mark, [change([1, 4], [1, 4], '\n\n')]), { line: 5, lines: 2 });
    assert.deepEqual(movedBy(mark, [change([0, 0], [2, 0], '')]), { line: 1, lines: 2 });
    assert.deepEqual(movedBy(mark, [change([5, 0], [5, 0], 'x\n')]), mark);
    assert.deepEqual(movedBy(mark, [change([2, 3], [3, 0], '\n\n')]), { line: 4, lines: 2 });
    assert.deepEqual(movedBy(mark, [change([3, 0], [3, 0], 'above\n')]), { line: 4, lines: 2 });
});

test('marks grow and shrink with typing inside them', () => {
    const mark = { line: 3, lines: 2 };
    assert.deepEqual(movedBy(mark, [change([3, 2], [3, 2], '\n')]), { line: 3, lines: 3 });
    assert.deepEqual(movedBy(mark, [change([3, 0], [5, 0], '')]), { line: 3, lines: 0 });
    assert.deepEqual(movedBy(mark, [change([2, 0], [4, 0], '')]), { line: 2, lines: 1 });
});

test('a place between lines moves like a mark', () => {
    const mark = { line: 3, lines: 0 };
    assert.deepEqual(movedBy(mark, [change([3, 0], [3, 0], 'x\n')]), { line: 4, lines: 0 });
    assert.deepEqual(movedBy(mark, [change([3, 1], [3, 1], '\n')]), mark);
    assert.deepEqual(movedBy(mark, [change([0, 0], [1, 0], '')]), { line: 2, lines: 0 });
});

test('several changes of one event count in the text before it', () => {
    const changes = [change([8, 0], [8, 0], 'z\n'), change([0, 0], [0, 0], 'a\n'), change([1, 0], [2, 0], '')];
    assert.deepEqual(movedBy({ line: 5, lines: 1 }, changes), { line: 5, lines: 1 });
});

const PROPOSED = 'one\nTWO\nthree\nfour\nFIVE\nFIVE AND A HALF\nsix\n';
const AT = regions([
    { id: 1, line: 1, lines: 1, newLines: 1 },
    { id: 2, line: 4, lines: 1, newLines: 2 },
]);

test('regions are found in the proposed text', () => {
    assert.deepEqual(AT, [{ hunk: 1, line: 1, lines: 1 }, { hunk: 2, line: 4, lines: 2 }]);
});

test('the lines of one change or of several are read out of what was saved', () => {
    const edited = (saved: string) => {
        const texts = editedTexts(PROPOSED, AT, saved);
        return texts && Object.fromEntries(texts);
    };
    assert.deepEqual(edited(PROPOSED), {});
    assert.deepEqual(edited(PROPOSED.replace('TWO\n', 'TWO\nand more\n')), { 1: 'TWO\nand more\n' });
    assert.deepEqual(edited(PROPOSED.replace('FIVE\n', '')), { 2: 'FIVE AND A HALF\n' });
    assert.deepEqual(edited('one\n2\nthree\nfour\n5\nsix\n'), { 1: '2\n', 2: '5\n' });
    assert.deepEqual(edited(PROPOSED.replace('TWO\n', '')), { 1: '' });
    assert.equal(edited(PROPOSED.replace('one', 'ONE')), null, 'what lies outside is not ours to change');
    assert.equal(edited('one\n2\nTHREE\nfour\n5\nsix\n'), null);
});

test('a file of one change is all that change', () => {
    const at = regions([{ id: 7, line: 0, lines: 0, newLines: 2 }]);
    assert.deepEqual([...(editedTexts('a\nb\n', at, 'mine') ?? [])], [[7, 'mine']]);
});

test('a fence is longer than any inside', () => {
    assert.equal(fenced('plain', ''), '```\nplain\n```\n');
    assert.equal(fenced('````\n![x](http://evil)\n', 'diff'), '`````diff\n````\n![x](http://evil)\n`````\n');
});
