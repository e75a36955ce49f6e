// The webview's door to the host.

import type { FromWebview, Posted } from '../chat/messages.ts';

interface Api {
    postMessage(message: Posted): void;
    getState(): unknown;
    setState(state: unknown): void;
}
declare function acquireVsCodeApi(): Api;

const api = acquireVsCodeApi();

let shown: string | null = null;

/** Says which conversation is on the screen: messages go with it, so that no words reach another. */
export function setShown(session: string | null): void {
    shown = session;
}

export function post(message: FromWebview): void {
    api.postMessage({ ...message, of: shown });
}

/** The draft outlives the webview, beside the host's own copy. */
export function keepDraft(text: string): void {
    api.setState({ draft: text });
    post({ type: 'draft', text });
}

export function keptDraft(): string {
    const state = api.getState() as { draft?: string } | undefined;
    return state?.draft ?? '';
}
