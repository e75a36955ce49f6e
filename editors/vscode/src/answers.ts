// Requests of the server that only an editor can answer: save a document, say what is wrong in it, look things up.

import * as vscode from 'vscode';
import type { LanguageClient } from 'vscode-languageclient/node';
import type {
    DiagnosticLine,
    DiagnosticsRequest,
    DocumentName,
    DocumentPlace,
    PlaceRequest,
    SymbolPlace,
    SymbolsRequest,
    TextPosition,
    TextRange,
} from './protocol.ts';

const SEVERITIES = ['error', 'warning', 'information', 'hint'] as const;

/** Registers the answers; they go with the client. */
export function answerServer(client: LanguageClient): void {
    const uriOf = (text: string) => client.protocol2CodeConverter.asUri(text);
    const spell = (uri: vscode.Uri) => client.code2ProtocolConverter.asUri(uri);

    client.onRequest('ropewalk/save', async ({ uri }: DocumentName) => {
        await save(uriOf(uri));
        return null;
    });
    client.onRequest('ropewalk/diagnostics', ({ uri }: DiagnosticsRequest): DiagnosticLine[] => {
        const all: [vscode.Uri, readonly vscode.Diagnostic[]][] = uri
            ? [[uriOf(uri), vscode.languages.getDiagnostics(uriOf(uri))]]
            : vscode.languages.getDiagnostics();
        return all.flatMap(([at, found]) => found.map((one) => ({
            uri: spell(at),
            line: one.range.start.line,
            severity: SEVERITIES[one.severity] ?? 'error',
            message: one.message,
            ...(one.source ? { source: one.source } : {}),
        })));
    });
    client.onRequest('ropewalk/symbols', async ({ uri, query }: SymbolsRequest): Promise<SymbolPlace[]> => {
        const found = uri ? await ofDocument(uriOf(uri), uri) : await ofWorkspace(query, spell);
        return found.filter(({ name }) => !uri || name.toLowerCase().includes(query.toLowerCase()));
    });
    client.onRequest('ropewalk/definition', async ({ uri, position }: PlaceRequest) =>
        await places('vscode.executeDefinitionProvider', uriOf(uri), position, spell));
    client.onRequest('ropewalk/references', async ({ uri, position }: PlaceRequest) =>
        await places('vscode.executeReferenceProvider', uriOf(uri), position, spell));
}

async function save(uri: vscode.Uri): Promise<void> {
    const document = vscode.workspace.textDocuments.find((one) => one.uri.toString() === uri.toString());
    if (!document) throw new Error('The document is not open.');
    if (!(await document.save())) throw new Error('The editor did not save the document.');
}

type Symbols = (vscode.DocumentSymbol | vscode.SymbolInformation)[] | undefined;

async function ofDocument(uri: vscode.Uri, spelled: string): Promise<SymbolPlace[]> {
    const found = await vscode.commands.executeCommand<Symbols>('vscode.executeDocumentSymbolProvider', uri);
    const flat = (symbol: vscode.DocumentSymbol | vscode.SymbolInformation, container?: string): SymbolPlace[] => {
        const range = 'location' in symbol ? symbol.location.range : symbol.selectionRange;
        const kind = vscode.SymbolKind[symbol.kind]?.toLowerCase() ?? 'symbol';
        const own = { name: symbol.name, kind, uri: spelled, range: plain(range), ...(container ? { container } : {}) };
        const children = 'children' in symbol ? symbol.children : [];
        return [own, ...children.flatMap((child) => flat(child, symbol.name))];
    };
    return (found ?? []).flatMap((symbol) => flat(symbol));
}

async function ofWorkspace(query: string, spell: (uri: vscode.Uri) => string): Promise<SymbolPlace[]> {
    const found = await vscode.commands.executeCommand<vscode.SymbolInformation[] | undefined>(
        'vscode.executeWorkspaceSymbolProvider', query);
    return (found ?? []).slice(0, 200).map(({ name, kind, location, containerName }) => ({
        name,
        kind: vscode.SymbolKind[kind]?.toLowerCase() ?? 'symbol',
        uri: spell(location.uri),
        range: plain(location.range),
        ...(containerName ? { container: containerName } : {}),
    }));
}

async function places(
    command: string,
    uri: vscode.Uri,
    position: TextPosition,
    spell: (uri: vscode.Uri) => string,
): Promise<DocumentPlace[]> {
    const at = new vscode.Position(position.line, position.character);
    const found = await vscode.commands.executeCommand<(vscode.Location | vscode.LocationLink)[] | undefined>(command, uri, at);
    return (found ?? []).map((one) =>
        'targetUri' in one
            ? { uri: spell(one.targetUri), range: plain(one.targetSelectionRange ?? one.targetRange) }
            : { uri: spell(one.uri), range: plain(one.range) });
}

function plain({ start, end }: vscode.Range): TextRange {
    const place = ({ line, character }: vscode.Position) => ({ line, character });
    return { start: place(start), end: place(end) };
}
