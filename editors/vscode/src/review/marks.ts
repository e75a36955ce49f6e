// Places of changes between two words of the server's: ranges of lines that move with typing, as the editor's own marks do. Pure.

export interface LineRange {
    /** The first line, from zero. */
    line: number;
    /** How many lines; 0 is a place before `line`. */
    lines: number;
}

/** A change of text, as the editor tells it. */
export interface TextChange {
    range: { start: { line: number; character: number }; end: { line: number; character: number } };
    text: string;
}

/** Where the lines are after a change. */
export function moved(mark: LineRange, change: TextChange): LineRange {
    const { start, end } = change.range;
    const added = change.text.split('\n').length - 1;
    const shift = added - (end.line - start.line);
    const last = mark.line + mark.lines;
    if (start.line >= last && !(mark.lines === 0 && start.line === mark.line)) return mark;
    const isAbove = end.line < mark.line || (end.line === mark.line && end.character === 0);
    if (isAbove) return { line: mark.line + shift, lines: mark.lines };
    if (mark.lines === 0) return mark;
    // It reaches into the lines: they grow and shrink with it.
    const line = Math.min(mark.line, start.line);
    return { line, lines: Math.max(last + shift - line, 0) };
}

/** Where the lines are after all changes of one event. They are told from the bottom up, each in the text before the event. */
export function movedBy(mark: LineRange, changes: readonly TextChange[]): LineRange {
    const upwards = [...changes].sort((a, b) => b.range.start.line - a.range.start.line);
    return upwards.reduce(moved, mark);
}
