import { Process, Processor } from '@nestjs/bull';
import { HousekeepingService } from './housekeeping.service.js';

@Processor('housekeeping')
export class HousekeepingProcessor {
  constructor(private readonly housekeeping: HousekeepingService) {}

  @Process('round')
  round(): Promise<void> {
    return this.housekeeping.runOnce();
  }
}
