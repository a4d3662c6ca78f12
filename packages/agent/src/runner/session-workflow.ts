import type { Executor } from '../loop/executor.ts';
import type { ResumeOptions } from '../run/options.ts';
import type { Store } from '../store/store.ts';
import { defined } from '../values/defined.ts';
import { withArgumentErrors } from '../values/errors.ts';
import type { Json } from '../values/json.ts';
import type { UserPart } from '../values/message.ts';
import type { StepSettings, Workflow } from './runner.ts';
import { runInSteps } from './stepped-run.ts';

/** The next task of a session: process a prompt, or continue. Plain data. */
export interface SessionWork {
  readonly sessionId: string;
  readonly user?: string;
  readonly content?: string | readonly UserPart[];
  readonly answers?: NonNullable<ResumeOptions['answers']>;
}

/** Options of {@link sessionWorkflow}. */
export interface SessionWorkflowOptions {
  readonly store: Store;
  /** Returns the executor of a session over that store, with the same model, tools and permissions in every process. */
  readonly executor: (sessionId: string) => Executor;
  /** Settings of the step for each model request and tool call. */
  readonly settings?: StepSettings;
}

/**
 * Returns the workflow that runs sessions on a runner; {@link runnerHarness} starts it. It ends with its run, even one
 * that waits for the user: a wait of days needs no engine, because the log contains the request.
 */
export function sessionWorkflow(given: SessionWorkflowOptions): Workflow {
  return withArgumentErrors('sessionWorkflow', () => {
    const { store, executor, settings } = given;
    return async (input, steps) => {
      // Only a harness starts runs.
      const { sessionId, user, content, answers } = input as unknown as SessionWork;
      const result = await runInSteps(steps, {
        executor: executor(sessionId),
        store,
        sessionId,
        whenAsked: 'end',
        ...defined({ user, prompt: content, answers, settings }),
      });
      return result.status satisfies Json;
    };
  });
}
