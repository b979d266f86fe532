"""Campaigns: what is measured, of which versions, how often, where (docs/campaigns.md)."""

from linerate.model.campaign.campaign import (
    Campaign,
    CampaignTestbed,
    Setting,
    Tls,
    Use,
    Version,
)
from linerate.model.campaign.loading import CampaignError, load
from linerate.model.campaign.plan import CampaignPlan, Impossible, TestbedPlan
from linerate.model.campaign.state import CampaignState, Failure, Status, TestbedState
from linerate.model.campaign.unit import Block, Unit

__all__ = [
    "Block",
    "Campaign",
    "CampaignError",
    "CampaignPlan",
    "CampaignState",
    "CampaignTestbed",
    "Failure",
    "Impossible",
    "Setting",
    "Status",
    "TestbedPlan",
    "TestbedState",
    "Tls",
    "Unit",
    "Use",
    "Version",
    "load",
]
