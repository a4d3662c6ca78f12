const empty = 'it contains no part of the response';
const repeats = 'other events contain the same data';

/** Data of a response that may be dropped, with the reasons. */
export const responsesIgnored: Readonly<Record<string, string>> = {
  // The end marker of the older API, after the last event.
  '[DONE]': empty,
  // Content that is compared with what has arrived.
  repetition: repeats,
  // An event about an item of an unknown type, which the last event must repeat as a whole.
  item: repeats,
  // The response in these events repeats the request.
  'response.created': empty,
  'response.in_progress': empty,
  'response.queued': empty,
  'response.content_part.added': repeats,
  'response.content_part.done': repeats,
  'response.reasoning_text.done': repeats,
  'response.reasoning_summary_text.done': repeats,
  'response.reasoning_summary_part.added': repeats,
  'response.reasoning_summary_part.done': repeats,
  // The sources of a text are stored from its complete item.
  'response.output_text.annotation.added': repeats,
  'part.annotations': repeats,
  // The likelihood of each token.
  'part.logprobs': empty,
  // Who made the call: no request declares a tool that makes calls.
  'function_call.caller': empty,
};
