/** A bug planted in the CLI. At least one test must detect it. */
export interface Mutant {
  /** Path relative to the CLI package. */
  readonly file: string;
  /** Occurs exactly once in the file. */
  readonly find: string;
  readonly replace: string;
  /** The incorrect behavior. */
  readonly why: string;
  /** Ids of the promises that the mutant breaks, such as 'P20'. Empty if no promise covers it. */
  readonly breaks: readonly string[];
  /** The unit test file that must detect the mutant. */
  readonly by: string;
}

const desk = 'src/mcp-server/mcp-controller.ts';
const servers = 'src/config/mcp-servers.ts';
const byServer = 'test/mcp-server/mcp-server.slow.test.ts';
const byServers = 'test/commands/mcp-servers.slow.test.ts';

/** Planted bugs in MCP and approvals, for `npm run verify -- mutants apps/cli`. */
export const mutants: readonly Mutant[] = [
  {
    file: 'src/view/approval-dialog.ts',
    find: 'if (!this.accepts(letter)) return;',
    replace: '',
    why: 'the user can allow a call before all of it was shown',
    breaks: ['P21'],
    by: 'test/view/approval-whole.test.ts',
  },
  {
    file: 'src/acp/approval.ts',
    find: 'if (!isWhole) return [deny];',
    replace: '',
    why: 'the editor can allow a call that it does not show completely',
    breaks: ['P21'],
    by: 'test/view/approval-whole.test.ts',
  },
  {
    file: desk,
    find: "waiting.signal.addEventListener('abort', onAbort, { once: true });",
    replace: '',
    why: 'a cancelled request does not stop its run',
    breaks: ['P3'],
    by: byServer,
  },
  {
    file: 'src/mcp-server/mcp-session.ts',
    find: "if (event.type === 'approval_requested') resolve();",
    replace: '',
    why: 'the client is not notified that a call needs approval',
    breaks: ['P21'],
    by: byServer,
  },
  {
    file: servers,
    find: 'if (tools === undefined) return servers;',
    replace: 'return servers;',
    why: 'servers without an allowed tool are started',
    breaks: [],
    by: byServers,
  },
  {
    file: servers,
    find: 'mcp.takeUp().catch(',
    replace: 'Promise.resolve().catch(',
    why: 'a changed tool list is never applied',
    breaks: ['S4.11'],
    by: byServers,
  },
  {
    file: 'src/commands/run.ts',
    find: 'const live = recordReplay.isReplay ? undefined :',
    replace: 'const live =',
    why: 'a replay starts the servers of the recorded run',
    breaks: [],
    by: byServers,
  },
  {
    file: 'src/permissions/permission.ts',
    find: "if (call.mustAsk !== undefined) return decision('ask', call.mustAsk);",
    replace: '',
    why: '--yes writes to protected files without asking',
    breaks: ['P21'],
    by: 'test/permissions/permission.test.ts',
  },
  {
    file: 'src/permissions/permission-rule.ts',
    find: 'if (call.mustAsk !== undefined) return [];',
    replace: '',
    why: '"always" is offered for a protected file',
    breaks: ['P21'],
    by: 'test/permissions/permission.test.ts',
  },
  {
    file: 'src/permissions/permission.ts',
    find: 'call.untrusted === undefined ? grantOf(this.#allow, call) : undefined',
    replace: 'grantOf(this.#allow, call)',
    why: 'a rule gives a command the network after untrusted output',
    breaks: ['P21'],
    by: 'test/permissions/permission.test.ts',
  },
  {
    file: 'src/permissions/permission-rule.ts',
    find: 'rule.needs === needs && subjects.includes(rule.pattern)',
    replace: 'subjects.includes(rule.pattern)',
    why: 'a rule gives a command other rights than it names',
    breaks: ['P21'],
    by: 'test/permissions/permission.test.ts',
  },
  {
    file: 'src/permissions/permission-rule.ts',
    find: "typeof command !== 'string' || !isRegistryLine(command)",
    replace: "typeof command !== 'string'",
    why: 'a rule for the login of a package manager covers commands that run other programs',
    breaks: ['P21'],
    by: 'test/permissions/permission.test.ts',
  },
  {
    file: 'src/config/instructions.ts',
    find: 'const root = projectRoot(folder);',
    replace: "const root = '/';",
    why: 'instructions that link outside the project are read',
    breaks: ['P21'],
    by: 'test/config/prompt-input.test.ts',
  },
  {
    file: 'src/config/attachment.ts',
    find: 'if (isIn(folder, path) && ',
    replace: 'if (false && ',
    why: 'an attachment can link outside the directory',
    breaks: ['P21'],
    by: 'test/config/prompt-input.test.ts',
  },
];
