import { DeviceError } from '../device.ts';

/** What is wrong with a cluster: its server, its rights, its workers. */
export class ClusterError extends DeviceError {
  override name = 'ClusterError';
}
