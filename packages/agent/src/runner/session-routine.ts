import type { Executor } from '../loop/executor.ts';
import type { ResumeOptions } from '../loop/options.ts';
import type { Store } from '../store/store.ts';
import { defined } from '../values/defined.ts';
import type { Json } from '../values/json.ts';
import type { UserPart } from '../values/message.ts';
import type { Routine, StepSettings } from './runner.ts';
import { runInSteps } from './stepped-run.ts';

/** What a session is to do next: hear a prompt, or go on where it stands. Plain data. */
export interface SessionWork {
  readonly sessionId: string;
  readonly content?: string | readonly UserPart[];
  readonly answers?: NonNullable<ResumeOptions['answers']>;
}

/** What `sessionRoutine` works on sessions with. */
export interface SessionRoutineOptions {
  readonly store: Store;
  /** How this session is worked on: the same model, tools and permissions in every process. Over that store. */
  readonly executor: (sessionId: string) => Executor;
  /** For each model request and each tool call. */
  readonly settings?: StepSettings;
}

/**
 * The routine that runs sessions on a runner; {@link runnerHarness} starts it. It ends with its run, also with one
 * that waits for a person: a wait of days needs no engine, the log knows what was asked.
 */
export function sessionRoutine({ store, executor, settings }: SessionRoutineOptions): Routine {
  return async (input, steps) => {
    // Nothing but a harness starts runs.
    const { sessionId, content, answers } = input as unknown as SessionWork;
    const result = await runInSteps(steps, {
      executor: executor(sessionId),
      store,
      sessionId,
      whenAsked: 'end',
      ...defined({ prompt: content, answers, settings }),
    });
    return result.status satisfies Json;
  };
}
