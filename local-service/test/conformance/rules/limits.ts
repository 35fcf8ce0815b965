import { section } from './rule-record.js';

export const limitRules = {
  ...section('Errors', {
    'limits.rate-limited': '429 `rate_limited`.',
    'limits.daily-limit-reached': '429 `daily_limit_reached`.',
    'limits.limit-reached': '429 `limit_reached`.',
    'limits.member-limit-reached': '429 `member_limit_reached`.',
    'limits.message': 'A 429 carries a message to show.',
  }),
};
