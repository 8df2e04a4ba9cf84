"""What the tests of both ROS bridges run: an arm with one joint, and how they say what is not so."""
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent))
from command import GROUND, NECK, WORLD_BEGIN

WORLD = WORLD_BEGIN + """  <volvox:run duration="600" dt="1/50"/>
  {plugin}
  <volvox:debris radius="0.01" color="1 0 0"><volvox:volume pose="0.5 0 0.03 0 0 0" size="0.1 0.1 0.05"/></volvox:debris>
""" + GROUND + """  <model name="arm"><pose>0 0 0.05 0 0 0</pose>
""" + NECK + """    <volvox:sensor name="range" type="range" link="head" rays="3" field_of_view="1" max_range="5"/>
    <volvox:sensor name="gyro" type="gyroscope" link="head"/>
    <volvox:sensor name="pull" type="accelerometer" link="head"/>
    <volvox:mind behavior="idle"/>
  </model>
</world>
</sdf>
"""


def expect(condition, what):
    if not condition:
        sys.exit(f"failed: expected that {what}")
