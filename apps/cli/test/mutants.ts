/** A change that makes the command line wrong. Something in its tests must notice every one of them. */
export interface Mutant {
  /** Below the folder of the command line. */
  readonly file: string;
  /** Stands exactly once in the file. */
  readonly find: string;
  readonly replace: string;
  /** What is wrong with it. */
  readonly why: string;
  /** Which promises ('P20') it breaks; none when nothing that has a number. */
  readonly breaks: readonly string[];
  /** What has to notice it: a file of unit tests. */
  readonly by: string;
}

const desk = 'src/mcp-server/mcp-controller.ts';
const servers = 'src/config/mcp-servers.ts';
const byServer = 'test/mcp-server/mcp-server.test.ts';
const byServers = 'test/commands/mcp-servers.test.ts';

/** Planted mistakes around MCP and approvals, for `npm run verify -- mutants apps/cli`. */
export const mutants: readonly Mutant[] = [
  {
    file: 'src/view/approval-dialog.ts',
    find: 'if (!this.knows(letter)) return;',
    replace: '',
    why: 'a call is allowed before all of it was shown',
    breaks: ['P21'],
    by: 'test/view/approval-whole.test.ts',
  },
  {
    file: 'src/acp/approval.ts',
    find: 'if (!isWhole) return [deny];',
    replace: '',
    why: 'an editor may allow a call that it does not show whole',
    breaks: ['P21'],
    by: 'test/view/approval-whole.test.ts',
  },
  {
    file: desk,
    find: "waiting.signal.addEventListener('abort', onAbort, { once: true });",
    replace: '',
    why: 'work goes on whose request was taken back',
    breaks: ['P3'],
    by: byServer,
  },
  {
    file: 'src/mcp-server/mcp-session.ts',
    find: "if (event.type === 'approval_requested') resolve();",
    replace: '',
    why: 'a client never hears that permission is needed',
    breaks: ['P21'],
    by: byServer,
  },
  {
    file: servers,
    find: 'if (tools === undefined) return servers;',
    replace: 'return servers;',
    why: 'servers are begun of which no tool may be used',
    breaks: [],
    by: byServers,
  },
  {
    file: servers,
    find: 'mcp.takeUp().catch(',
    replace: 'Promise.resolve().catch(',
    why: 'a list that changed is never taken up',
    breaks: ['S4.11'],
    by: byServers,
  },
  {
    file: 'src/commands/run.ts',
    find: 'const live = reel.isReplay ? undefined :',
    replace: 'const live =',
    why: 'a replay begins the servers of the recorded run',
    breaks: [],
    by: byServers,
  },
  {
    file: 'src/config/permission.ts',
    find: 'if (call.mustAsk !== undefined) return false;',
    replace: '',
    why: '--yes writes to protected files unasked',
    breaks: ['P21'],
    by: 'test/config/permission.test.ts',
  },
  {
    file: 'src/config/permission-rule.ts',
    find: 'if (call.mustAsk !== undefined) return undefined;',
    replace: '',
    why: '"always" is offered for a protected file',
    breaks: ['P21'],
    by: 'test/config/permission.test.ts',
  },
  {
    file: 'src/config/instructions.ts',
    find: 'repositoryOf(folder) ?? folder;',
    replace: "'/';",
    why: 'instructions that lead out of the project are read',
    breaks: ['P21'],
    by: 'test/config/prompt-input.test.ts',
  },
  {
    file: 'src/config/attachment.ts',
    find: 'if (isIn(folder, path) && ',
    replace: 'if (false && ',
    why: 'an attachment leads out of the folder',
    breaks: ['P21'],
    by: 'test/config/prompt-input.test.ts',
  },
];
