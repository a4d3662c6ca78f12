import { z } from 'zod';
import type { Route } from '../http/route.ts';
import { route } from '../http/route.ts';
import { accepted, answerBody, approval, approvalList, id } from './schemas.ts';
import type { Services } from './services.ts';

/** Returns the routes for approvals and their decisions. */
export function approvalRoutes({ approvals, sessionService }: Services): Route[] {
  return [
    route({
      method: 'GET',
      path: '/v1/approvals',
      name: 'listApprovals',
      summary:
        'Lists the approvals that are waiting for a decision, for all sessions of the token or for one.',
      scope: 'read',
      query: z.strictObject({ session: id.optional() }),
      answers: { 200: { text: 'Pending approvals, oldest first.', schema: approvalList } },
      handle: async ({ query, token }) => {
        await approvals.refresh();
        const waiting = approvals.list(query.session);
        const items = await sessionService.visible(waiting, token);
        return { status: 200, json: { items } };
      },
    }),
    route({
      method: 'GET',
      path: '/v1/sessions/{sessionId}/approvals/{approvalId}',
      name: 'readApproval',
      summary: 'Returns an approval with its decision.',
      scope: 'read',
      answers: {
        200: { text: 'The approval.', schema: approval },
        404: { text: 'There is no such approval.' },
      },
      handle: async ({ params: { sessionId = '', approvalId = '' }, token }) => ({
        status: 200,
        json: await approvals.find(sessionId, approvalId, token),
      }),
    }),
    route({
      method: 'POST',
      path: '/v1/sessions/{sessionId}/approvals/{approvalId}',
      name: 'answerApproval',
      summary:
        'Decides an approval request: allows or denies a call, or raises a limit that was reached. The run then continues. An approval request can be decided only once.',
      scope: 'approve',
      body: answerBody,
      answers: {
        202: { text: 'The decision is stored and the run continues.', schema: accepted },
        403: { text: 'The approval is about a budget, and the token lacks the "admin" scope.' },
        404: { text: 'There is no such approval.' },
        409: {
          text: 'The decision is too late (`decided`, `expired`), or its hash belongs to another call (`other_arguments`).',
        },
      },
      handle: async ({ params: { sessionId = '', approvalId = '' }, body, token }) => ({
        status: 202,
        json: await approvals.answer(sessionId, approvalId, body, { token }),
      }),
    }),
  ];
}
