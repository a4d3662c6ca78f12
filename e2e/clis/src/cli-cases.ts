import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { Backend, BackendEvent, BackendResult, DelegatePermission } from '@cobbler/delegate';
import { claudeCode, codex } from '@cobbler/delegate';
import type { Rig } from './rig.ts';
import { expect, expectEqual, until } from './rig.ts';

/** A case with the real programs. */
export interface Case {
  readonly name: string;
  run(rig: Rig): Promise<void>;
}

type Make = (rig: Rig, permission?: DelegatePermission, timeoutMs?: number) => Backend;

const backends: Readonly<Record<string, Make>> = {
  'claude-code': ({ claude }, permission = 'read-only', timeoutMs = 60_000) =>
    claudeCode({ ...claude, permission, timeoutMs }),
  codex: ({ codex: options }, permission = 'read-only', timeoutMs = 60_000) =>
    codex({ ...options, permission, timeoutMs }),
  'codex app-server': ({ codex: options }, permission = 'read-only', timeoutMs = 60_000) =>
    codex({ ...options, permission, timeoutMs, via: 'app-server' }),
};

const unknownId = '0f9b1c6e-1a2b-4c3d-8e4f-000000000000';

/** Cases for every program and every way to control it. */
export const cliCases: readonly Case[] = Object.entries(backends).flatMap(([name, make]) =>
  // Codex without an app server does not request approval, so its tool must be allowed beforehand.
  Object.entries(cases(make, name === 'codex' ? 'edit' : 'gate')).map(([what, run]) => ({
    name: `${name}: ${what}`,
    run,
  })),
);

function cases(make: Make, running: DelegatePermission): Record<string, (rig: Rig) => Promise<void>> {
  return {
    'create [S2.3]': async (rig) => {
      const result = await make(rig).run(job(rig, 'scene:say'));
      expectEqual(
        [result.status, result.output, result.exitCode],
        ['completed', 'Hello from the mock.', 0],
        'the end',
      );
      expectEqual([result.usage.inputTokens, result.usage.outputTokens], [120, 30], 'the usage');
      expectEqual(rig.requests(), 1, 'the requests');
    },
    'resumes a conversation and reports the usage of each prompt [S2.5, P14]': async (rig) => {
      const backend = make(rig);
      const first = await backend.run(job(rig, 'scene:say'));
      const resumeId = first.cliSessionId ?? '';
      const second = await backend.run({ ...job(rig, 'scene:count'), resumeId, before: first.totals });
      expectEqual([second.output, second.cliSessionId], ['Heard 2.', resumeId], 'the second');
      expectEqual([second.usage.inputTokens, second.contextLost], [120, false], 'its usage');
      if (backend.tellsCost) expectEqual(second.usd?.toFixed(6), first.usd?.toFixed(6), 'its cost');
    },
    'replaces a stale session with a new one and reports it [S1.10]': async (rig) => {
      const result = await make(rig).run({ ...job(rig, 'scene:count'), resumeId: unknownId });
      expectEqual(
        [result.status, result.output, result.contextLost],
        ['completed', 'Heard 1.', true],
        'the end',
      );
      expectEqual([result.attempts, rig.requests()], [2, 1], 'the starts and requests');
    },
    'read-only denies a tool call [P20]': async (rig) => {
      const result = await make(rig).run(job(rig, 'scene:shell made-by-shell'));
      // Codex does not always report a command that its sandbox rejected. The outcome is what counts.
      expectEqual([result.status, result.output], ['completed', 'All done.'], 'the end');
      expect(!existsSync(join(rig.workspace, 'made-by-shell')), 'no file');
    },
    'a 529 is retried once by Cobbler and not by the program [P5]': async (rig) => {
      const result = await make(rig).run(job(rig, 'scene:overloaded'));
      expectEqual(
        [result.status, result.error?.kind, result.error?.retryable],
        ['failed', 'rate_limit', true],
        'the end',
      );
      expectEqual([result.attempts, rig.requests()], [2, 2], 'the starts and requests');
    },
    '401 is not tried again [P6]': async (rig) => {
      const result = await make(rig).run(job(rig, 'scene:refused'));
      expectEqual([result.status, result.error?.kind], ['failed', 'auth'], 'the end');
      expectEqual([result.attempts, rig.requests()], [1, 1], 'the starts and requests');
      expect(
        !JSON.stringify(result).includes('sk-suite') && !JSON.stringify(result).includes('sk-ant'),
        'no key',
      );
    },
    'a time limit while the model is silent [S2.17]': async (rig) => {
      const result = await make(rig, 'read-only', 4000).run(job(rig, 'scene:silent'));
      expectEqual([result.status, result.error?.kind], ['timeout', 'timeout'], 'the end');
    },
    'cancel while a tool ignores SIGTERM [P3]': async (rig) => {
      const process = make(rig, running).start(job(rig, 'scene:stubborn'), {
        onEvent: (happening) => {
          if (happening.type === 'asked') process.decide(happening.callId, { type: 'allow' });
        },
      });
      await until(() => existsSync(join(rig.workspace, 'begun')), 'the tool to begin');
      const told = performance.now();
      process.stop();
      expectEqual((await process.result).status, 'cancelled', 'the status');
      expect(performance.now() - told < 5000, 'the end within 5 s');
    },
  };
}

/** Cases that only some programs support. */
export const specialCases: readonly Case[] = [
  {
    name: 'claude-code: edit allows a tool call [P20]',
    run: async (rig) => {
      const result = await claudeCode({ ...rig.claude, permission: 'edit' }).run(
        job(rig, `scene:write ${rig.workspace}`),
      );
      expectEqual([result.status, result.denials], ['completed', []], 'the end');
      expect(existsSync(join(rig.workspace, 'written.txt')), 'the file');
    },
  },
  {
    name: 'codex: edit allows a tool call [P20]',
    run: async (rig) => {
      const result = await codex({ ...rig.codex, permission: 'edit' }).run(job(rig, 'scene:shell made'));
      expectEqual([result.status, existsSync(join(rig.workspace, 'made'))], ['completed', true], 'the end');
    },
  },
  ...gateCases('claude-code', ({ claude }) => claudeCode({ ...claude, permission: 'gate' })),
  ...gateCases('codex app-server', ({ codex: options }) => codex({ ...options, permission: 'gate' })),
  {
    name: 'claude-code: streams text',
    run: (rig) => showsText(rig, claudeCode(rig.claude)),
  },
  {
    name: 'codex app-server: streams text',
    run: (rig) => showsText(rig, codex({ ...rig.codex, via: 'app-server' })),
  },
  {
    name: 'codex app-server: receives a message during a run',
    run: async (rig) => {
      let steered = false;
      const process = codex({ ...rig.codex, via: 'app-server' }).start(job(rig, 'scene:listen'), {
        onEvent: ({ type }) => {
          if (type === 'result' && !steered) steered = process.steer('scene:listen enough');
        },
      });
      expectEqual((await process.result).output, 'Enough.', 'the response');
    },
  },
];

function gateCases(name: string, make: (rig: Rig) => Backend): Case[] {
  const played = async (rig: Rig, allow: boolean): Promise<BackendResult> => {
    const process = make(rig).start(job(rig, 'scene:shell made-by-gate'), {
      onEvent: (happening) => {
        if (happening.type !== 'asked') return;
        process.decide(happening.callId, allow ? { type: 'allow' } : { type: 'deny', message: 'Not today.' });
      },
    });
    return process.result;
  };
  return [true, false].map((allow) => ({
    name: `${name}: the gate ${allow ? 'allows' : 'denies'} a tool call [P20]`,
    run: async (rig) => {
      const { status, denials } = await played(rig, allow);
      expectEqual([status, denials.length], ['completed', allow ? 0 : 1], 'the end');
      expectEqual(existsSync(join(rig.workspace, 'made-by-gate')), allow, 'whether the file exists');
    },
  }));
}

async function showsText(rig: Rig, backend: Backend): Promise<void> {
  const shown: string[] = [];
  const hear = (happening: BackendEvent) => {
    if (happening.type === 'delta' && happening.of === 'text') shown.push(happening.text);
  };
  await backend.run(job(rig, 'scene:say'), { onEvent: hear });
  expect(shown.length > 1, 'more than one chunk');
  expectEqual(shown.join(''), 'Hello from the mock.', 'the text');
}

function job({ workspace }: Rig, prompt: string) {
  return { prompt, workingDir: workspace };
}
