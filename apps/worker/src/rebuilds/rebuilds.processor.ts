import { Process, Processor } from '@nestjs/bull';
import { RebuildsService } from './rebuilds.service.js';

@Processor('rebuilds')
export class RebuildsProcessor {
  constructor(private readonly rebuilds: RebuildsService) {}

  @Process('drain')
  async drain(): Promise<void> {
    await this.rebuilds.runOnce();
  }
}
