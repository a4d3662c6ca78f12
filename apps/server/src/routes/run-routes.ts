import { defined } from '@cobbler/agent/values';
import { z } from 'zod';
import type { ResponseText, Route } from '../http/route.ts';
import { route } from '../http/route.ts';
import { Problem } from '../requests/problem.ts';
import { accepted, content, promptBody, resumeBody, runKey } from './schemas.ts';
import type { Services } from './services.ts';

const unknown: ResponseText = { text: 'There is no such session.' };

const busy: ResponseText = { text: 'A run is active. `runId` is its id.' };

const promptRefusals = {
  409: { text: 'A run is active (`busy`), or the key was used for another prompt (`other_content`).' },
  429: {
    text: "The token's budget is used up (`budget`), its user runs too many sessions (`running_sessions`), or it has sent too many requests (`rate`); `retry-after` is the time to wait.",
  },
};

const steerAnswers = {
  202: { text: 'Accepted.' },
  404: unknown,
  409: { text: 'No run is active.' },
  429: { text: 'Too many messages are waiting for the next turn.' },
};

/** Returns the routes of runs: prompt, cancel, continue. */
export function runRoutes({ sessionService, approvals }: Services): Route[] {
  const runHeaders = (sessionId: string, seq: number) => ({
    location: `/v1/sessions/${sessionId}/events?after=${seq - 1}`,
  });
  return [
    route({
      method: 'POST',
      path: '/v1/sessions/{sessionId}/prompt',
      name: 'prompt',
      summary: 'Sends a prompt to the model and starts a run.',
      scope: 'prompt',
      body: promptBody,
      headers: {
        'Idempotency-Key': 'Becomes the run id. A request with the same key does not start a second run.',
      },
      answers: {
        202: { text: 'The run has started and the prompt is stored.', schema: accepted },
        404: unknown,
        ...promptRefusals,
      },
      handle: async ({ params: { sessionId = '' }, body, request, token }) => {
        sessionService.checkOpen();
        const session = await sessionService.session(sessionId, token, 'prompt');
        const started = await session.prompt(body.content, token, keyOf(request.headers['idempotency-key']));
        return { status: 202, json: started, headers: runHeaders(sessionId, started.seq) };
      },
    }),
    route({
      method: 'POST',
      path: '/v1/sessions/{sessionId}/resume',
      name: 'resume',
      summary:
        'Continues a run that was cut off or is waiting for decisions. Sending decisions also requires the "approve" scope.',
      scope: 'prompt',
      body: resumeBody,
      bodyOptional: true,
      answers: { 202: { text: 'Continued.', schema: accepted }, 404: unknown, 409: busy },
      handle: async ({ params: { sessionId = '' }, body, request, token }) => {
        sessionService.checkOpen();
        const runId = keyOf(request.headers['idempotency-key']);
        const session = await sessionService.session(sessionId, token, 'prompt');
        const { answers = [], compact } = body ?? {};
        const options = defined({ runId, compact: compact && defined(compact) });
        const started =
          answers.length > 0
            ? await approvals.answerAll(sessionId, answers, { runId, token })
            : await session.resume(options, token);
        return { status: 202, json: started, headers: runHeaders(sessionId, started.seq) };
      },
    }),
    route({
      method: 'POST',
      path: '/v1/sessions/{sessionId}/cancel',
      name: 'cancel',
      isFree: true,
      summary: 'Cancels the active run. Responds when the run has ended.',
      scope: 'prompt',
      body: z.strictObject({}).meta({ id: 'Cancel' }),
      bodyOptional: true,
      answers: { 200: { text: 'The status of the run, or `idle`.' }, 404: unknown },
      handle: async ({ params: { sessionId = '' }, token }) => {
        const { run } = await sessionService.session(sessionId, token, 'prompt');
        if (run === undefined) return { status: 200, json: { status: 'idle' } };
        run.cancel();
        return { status: 200, json: { status: (await run.result).status, runId: run.id } };
      },
    }),
    route({
      method: 'POST',
      path: '/v1/sessions/{sessionId}/steer',
      name: 'steer',
      summary: 'Sends a message to the active run; the model receives it in its next turn.',
      scope: 'prompt',
      body: z.strictObject({ content }).meta({ id: 'Steer' }),
      answers: steerAnswers,
      handle: async ({ params: { sessionId = '' }, body, token }) => {
        const session = await sessionService.session(sessionId, token, 'prompt');
        if (await session.steer(body.content)) return { status: 202, json: { runId: session.run?.id } };
        throw new Problem(409, 'not_running', 'No run is active.');
      },
    }),
  ];
}

/**
 * Returns the idempotency key of a request.
 * @throws Problem 400 for a key that cannot be an id.
 */
function keyOf(header: string | string[] | undefined): string | undefined {
  if (header === undefined) return undefined;
  const key = runKey.safeParse(header);
  if (key.success) return key.data;
  throw new Problem(
    400,
    'idempotency_key',
    'The Idempotency-Key must consist of 1 to 64 letters, digits, "_" or "-".',
  );
}
