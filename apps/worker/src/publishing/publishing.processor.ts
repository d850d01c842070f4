import { Process, Processor } from '@nestjs/bull';
import { ScheduleService } from './schedule.service.js';

@Processor('publishing')
export class PublishingProcessor {
  constructor(private readonly schedule: ScheduleService) {}

  @Process('publish-due')
  async publishDue(): Promise<void> {
    await this.schedule.runOnce();
  }
}
