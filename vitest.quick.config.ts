// What to run every day, in less than 90 seconds: `npm run test:quick`. All test files but the long ones.
import { mergeConfig } from 'vitest/config';
import { long } from './tests/order.ts';
import all from './vitest.config.ts';

export default mergeConfig(all, { test: { exclude: long } });
