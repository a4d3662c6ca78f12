const repeats = 'its content arrives in other events, too';

/** Data of a response that may be dropped, with the reasons. */
export const responsesIgnored: Readonly<Record<string, string>> = {
  '[DONE]': 'the end marker of the older API, after the last event',
  repetition: 'content that is compared with what has arrived',
  item: 'an event about an item of an unknown type, which the last event must repeat as a whole',
  'response.created': 'its response repeats the request',
  'response.in_progress': 'its response repeats the request',
  'response.queued': 'its response repeats the request',
  'response.content_part.added': repeats,
  'response.content_part.done': repeats,
  'response.reasoning_text.done': repeats,
  'response.reasoning_summary_text.done': repeats,
  'response.reasoning_summary_part.added': repeats,
  'response.reasoning_summary_part.done': repeats,
  'response.output_text.annotation.added': 'a source of a text, which is complete without it',
};
