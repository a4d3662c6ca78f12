import type { CliAdapter } from '../cli/cli-adapter.ts';

/** The name of Claude Code in events and errors. */
export const claudeName = 'claude-code';

/** The environment of Claude Code. */
export const claudeEnvironment: Pick<CliAdapter, 'variables' | 'service' | 'directory' | 'settings'> = {
  variables: [
    'ANTHROPIC_API_KEY',
    'ANTHROPIC_AUTH_TOKEN',
    'ANTHROPIC_BASE_URL',
    'CLAUDE_CODE_OAUTH_TOKEN',
    'CLAUDE_CONFIG_DIR',
  ],
  service: {
    keys: ['ANTHROPIC_API_KEY', 'ANTHROPIC_AUTH_TOKEN'],
    address: 'ANTHROPIC_BASE_URL',
    defaultAddress: 'https://api.anthropic.com',
  },
  directory: {
    variable: 'CLAUDE_CONFIG_DIR',
    name: '.claude',
    locked: [
      ...['CLAUDE.md', 'agents', 'commands', 'hooks', 'output-styles', 'plugins', 'rules'],
      ...['settings.json', 'settings.local.json', 'skills', 'workflows'],
    ],
    created: ['plugins'],
    settings: '.claude.json',
  },
  settings: {
    // Cobbler retries requests, so Claude Code must not.
    CLAUDE_CODE_MAX_RETRIES: '0',
    CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
  },
};
