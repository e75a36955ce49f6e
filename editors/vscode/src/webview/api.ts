// The webview's door to the host.

import type { FromWebview } from '../chat/messages.ts';

interface Api {
    postMessage(message: FromWebview): void;
    getState(): unknown;
    setState(state: unknown): void;
}
declare function acquireVsCodeApi(): Api;

const api = acquireVsCodeApi();

export function post(message: FromWebview): void {
    api.postMessage(message);
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
