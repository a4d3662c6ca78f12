import type { ProviderTesting } from '@cobbler/agent/testing';
import { providerName } from '../../models.ts';
import { frame } from '../frame.ts';
import { errorOf, goodHead } from '../wire-error.ts';
import { begin, fail, line, noise, number, once, unknown } from './answer.ts';
import { read } from './request.ts';
import { refuse } from './rules.ts';

/** The mock wire of the Responses API. */
export const responsesTesting: ProviderTesting = {
  provider: providerName,
  contentType: 'text/event-stream; charset=utf-8',
  head: goodHead,
  request: { path: '/responses', key: { header: 'authorization', prefix: 'Bearer ' } },
  lacks: {
    'error-results': 'a function_call_output has no error field; its text must say that the call failed',
    sampling: 'the models of this API reason, and reasoning models reject a temperature',
    pause: 'a response never pauses for continuation',
    'context-full-stop': 'a conversation that is too long is rejected before a response starts',
  },
  begin,
  line,
  noise,
  unknown,
  once,
  number,
  frame,
  error: errorOf,
  fail,
  read,
  refuse,
};
