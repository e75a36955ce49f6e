// API keys: kept by VS Code's SecretStorage, handed to the server in its environment alone. They are in no setting, no log and no
// webview.

import * as vscode from 'vscode';

interface Provider {
    label: string;
    variable: string;
}

const PROVIDERS: readonly Provider[] = [
    { label: 'Anthropic', variable: 'ANTHROPIC_API_KEY' },
    { label: 'OpenAI', variable: 'OPENAI_API_KEY' },
    { label: 'OpenRouter', variable: 'OPENROUTER_API_KEY' },
    { label: 'DeepSeek', variable: 'DEEPSEEK_API_KEY' },
    { label: 'Gemini', variable: 'GEMINI_API_KEY' },
    { label: 'Mistral', variable: 'MISTRAL_API_KEY' },
    { label: 'Groq', variable: 'GROQ_API_KEY' },
    { label: 'xAI', variable: 'XAI_API_KEY' },
    { label: 'Moonshot', variable: 'MOONSHOT_API_KEY' },
    { label: 'Z.ai', variable: 'ZAI_API_KEY' },
    { label: 'MiniMax', variable: 'MINIMAX_API_KEY' },
];

const slot = (variable: string) => `key:${variable}`;

export class Keys {
    constructor(private readonly secrets: vscode.SecretStorage) {}

    /** The variables for the server; one that is set in the environment wins. */
    async environment(): Promise<Record<string, string>> {
        const all: Record<string, string> = {};
        for (const { variable } of PROVIDERS) {
            if (process.env[variable]) continue;
            const key = await this.secrets.get(slot(variable));
            if (key) all[variable] = key;
        }
        return all;
    }

    /** Asks for a provider and its key, and stores it; false if the user has left. An empty key forgets the one there is. */
    async ask(): Promise<boolean> {
        const rows = await Promise.all(PROVIDERS.map(async (provider) => ({
            ...provider,
            description: await this.stateOf(provider.variable),
        })));
        const chosen = await vscode.window.showQuickPick(rows, {
            title: 'Set API Key',
            placeHolder: 'The provider whose key you have',
        });
        if (!chosen) return false;
        const key = await vscode.window.showInputBox({
            title: `API key of ${chosen.label}`,
            prompt: 'Kept by VS Code among its secrets. Leave it empty to forget it.',
            password: true,
            ignoreFocusOut: true,
            validateInput: (text) => (/\s/.test(text.trim()) ? 'A key has no blanks.' : undefined),
        });
        if (key === undefined) return false;
        if (key.trim()) await this.secrets.store(slot(chosen.variable), key.trim());
        else await this.secrets.delete(slot(chosen.variable));
        if (process.env[chosen.variable]) {
            void vscode.window.showInformationMessage(
                `${chosen.variable} is set in the environment, and that one is used.`,
            );
        }
        return true;
    }

    private async stateOf(variable: string): Promise<string> {
        if (process.env[variable]) return 'set in the environment';
        return (await this.secrets.get(slot(variable))) ? 'stored' : '';
    }
}
